import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Ends the connection of a reader who has taken nothing for so long although something waits to be sent. */
export function endIdleReader(response: ServerResponse, socket: Socket, idleMs: number): void {
  let takenBefore = -1;
  const timer = setInterval(() => {
    const taken = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength > 0 && taken === takenBefore) socket.destroy();
    takenBefore = taken;
  }, idleMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}
