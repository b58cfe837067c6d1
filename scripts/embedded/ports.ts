import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { VariableName } from '../../store/variables.ts';

/**
 * Finds a free port below the range of ephemeral ports, so that a restarted server finds its port free again. (Inside that
 * range, a client that keeps dialling a dead port can even end up connected to itself.)
 */
export async function findFreePort(): Promise<number> {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '32768');
  const below = Math.max(11_000, Math.min(32_768, Number.parseInt(range, 10) || 32_768));
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(10_000, below);
    const release = await reservePort(port);
    if (!release) continue;
    if ((await tryListen('127.0.0.1', port)) === null) return port;
    release();
  }
  throw new Error('no free port found on 127.0.0.1');
}

/**
 * Between finding a port and listening on it, another run on this machine could choose the same one. An abstract socket marks
 * it as taken for as long as this process lives.
 */
function reservePort(port: number): Promise<(() => void) | null> {
  return new Promise((done) => {
    const mark = createServer();
    mark.once('error', (error: NodeJS.ErrnoException) => done(error.code === 'EADDRINUSE' ? null : () => {}));
    mark.listen({ path: `\0svc-port-${port}` }, () => done(() => mark.close()));
    mark.unref();
  });
}

/** Says plainly, before anything is started, that a port cannot be had and which variable to change. */
export async function assertPortFree(variable: VariableName, host: string, port: number): Promise<void> {
  const code = await tryListen(host, port);
  if (code === null) return;
  if (code === 'EADDRINUSE') {
    throw new Error(
      `Port ${port} on ${host} is in use by another program. Set ${variable} to a free port, for example: ${variable}=${await findFreePort()} npm start`,
    );
  }
  if (code === 'EACCES')
    throw new Error(`Port ${port} may not be used by this user (ports below 1024 need special rights). Set ${variable} to a higher one.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    throw new Error(`${host} is not an address of this machine. Set HOST to one that is, such as 127.0.0.1 or 0.0.0.0.`);
  throw new Error(`Cannot listen on ${host}:${port} (${code}). Change ${variable}.`);
}

function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(null)));
  });
}

/** Whether anyone listens on the port of this machine. */
export function canConnect(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host: '127.0.0.1', port });
    const finish = (ok: boolean) => {
      socket.destroy();
      done(ok);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
