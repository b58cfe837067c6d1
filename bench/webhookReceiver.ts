import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver as a process of its own: takes all that comes, except at /silent, where it never answers. Tells what came when asked. */

export interface Arrivals {
  /** Milliseconds from each event to its arrival. */
  delaysMs: number[];
  firstAt: number;
  lastAt: number;
}

const none = (): Arrivals => ({ delaysMs: [], firstAt: 0, lastAt: 0 });
let arrivals = none();

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    if (request.url === '/silent') return;
    const { created_at } = JSON.parse(Buffer.concat(parts).toString()) as { created_at: string };
    const now = Date.now();
    arrivals.delaysMs.push(now - Date.parse(created_at));
    arrivals.firstAt ||= now;
    arrivals.lastAt = now;
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

process.on('message', (asked) => {
  if (asked === 'forget') arrivals = none();
  else process.send?.(arrivals);
});
process.on('disconnect', () => process.exit());
