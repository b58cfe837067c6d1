import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A program of its own: a server that does always the same, about as much as the product does for a small request. */
const rounds = 1_000_000;

const server = createServer((_request, response) => {
  let sum = 0;
  for (let i = 0; i < rounds; i += 1) sum = (sum + i) % 1_000_003;
  response.end(String(sum));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
