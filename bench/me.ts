import { createServer } from 'node:http';
import autocannon from 'autocannon';
import Koa from 'koa';
import type { BenchRig } from './services.ts';

const load = { connections: 16, duration: 5, workers: 1 };

/** Compares `GET /me`, which authenticates and queries the database, with a bare Koa handler that returns a constant. */
export async function benchMe({ url, token }: BenchRig): Promise<void> {
  const bare = new Koa();
  bare.use((ctx) => {
    ctx.body = { ok: true };
  });
  const server = createServer(bare.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const baseline = await autocannon({ url: `http://127.0.0.1:${port}/`, ...load });
  server.close();
  const me = await autocannon({ url: `${url}/api/v1/me`, headers: { authorization: `Bearer ${token}` }, ...load });
  if (me.non2xx > 0 || me.errors > 0) throw new Error(`GET /me failed ${me.non2xx + me.errors} times`);
  const ratio = me.requests.average / baseline.requests.average;
  console.log(`GET /me            ${me.requests.average.toFixed(0)} requests/s (p99 ${me.latency.p99} ms)`);
  console.log(`bare Koa handler   ${baseline.requests.average.toFixed(0)} requests/s (p99 ${baseline.latency.p99} ms)`);
  console.log(`ratio              ${ratio.toFixed(2)} of the baseline`);
}
