import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError } from '../../core/errors.ts';
import { groupAddress } from '../../core/networkAddress.ts';
import { endWithProblem } from './brokenRequests.ts';

/** More than browsers and offices open; one that has shown a credential does not count any more. */
const mostPerAddress = 256;

/** What to do once a connection has shown a credential. */
const onLogin = new WeakMap<Socket, () => void>();

const refused = new WeakSet<Socket>();

/** Refuses an address that holds many connections on which nobody has shown a credential. */
export function limitConnections(server: Server): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = groupAddress(socket.remoteAddress ?? '');
    const held = open.get(address) ?? 0;
    if (held >= mostPerAddress) {
      refused.add(socket);
      endWithProblem(socket, tooMany());
      return;
    }
    open.set(address, held + 1);
    let counted = true;
    const release = () => {
      if (!counted) return;
      counted = false;
      const others = (open.get(address) ?? 1) - 1;
      if (others === 0) open.delete(address);
      else open.set(address, others);
    };
    onLogin.set(socket, release);
    socket.once('close', release);
  });
}

/** Whether the connection was refused. The server goes on reading it for a moment, and what it asks for must not be done. */
export function isRefused(socket: Socket): boolean {
  return refused.has(socket);
}

/** Whoever comes by this connection is known by now. */
export function markKnown(socket: Socket): void {
  onLogin.get(socket)?.();
}

function tooMany(): DomainError {
  return new DomainError(
    'rate-limited',
    `This address holds ${mostPerAddress} connections on which nobody has shown a credential.`,
    'Close some, or use those that are open for more than one request.',
    { headers: { 'Retry-After': '10' } },
  );
}
