import { Socket } from 'node:net';
import { encodeHead, FrameReader } from '../protocol.ts';

export interface Channel {
  /** The body may be written to again once the next request comes. */
  send(header: unknown, body?: Buffer): void;
  /** Says that the process is ready, and handles one request after the other. */
  serve(handle: (request: unknown) => Promise<void>): void;
}

/** The connection of an isolated process to the service, which passes the socket as file descriptor 3. */
export function openChannel(): Channel {
  const socket = new Socket({ fd: 3, readable: true, writable: true });
  // The service is gone. SIGKILL, because running work would delay a graceful end.
  for (const event of ['close', 'end', 'error']) socket.on(event, () => process.kill(process.pid, 'SIGKILL'));
  const send: Channel['send'] = (header, body) => {
    socket.cork();
    socket.write(encodeHead(header, body?.length));
    if (body) socket.write(body);
    socket.uncork();
  };
  return {
    send,
    serve(handle) {
      const frames = new FrameReader(Number.POSITIVE_INFINITY);
      let last: Promise<void> = Promise.resolve();
      socket.on('data', (chunk: Buffer) => {
        for (const { header } of frames.push(chunk)) last = last.then(() => handle(header));
      });
      send({ ready: true });
    },
  };
}
