import autocannon from 'autocannon';
import { median, report } from './measure.ts';
import type { BenchRig } from './services.ts';

const load = { connections: 16, duration: 2, workers: 1 };
const rounds = 20;
/** Each has its own row of counts every second. */
const tokens = 50;

/**
 * What counting requests costs: `GET /me` of many tokens against one process, in slices with and without counting. The two slices of a
 * round follow each other, every other round the other way round, and the ratios of rounds are compared, not the slices.
 */
export async function benchCounting({ url, token, api }: BenchRig): Promise<void> {
  const { counter } = api;
  const count = counter.count.bind(counter);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const requests = await Promise.all(
    Array.from({ length: tokens }, async (_, i) => {
      const made = await fetch(`${url}/api/v1/me/tokens`, { method: 'POST', headers, body: JSON.stringify({ name: `token ${i}` }) });
      if (!made.ok) throw new Error(`no token: ${made.status}`);
      const { token: text } = (await made.json()) as { token: string };
      return { method: 'GET' as const, path: '/api/v1/me', headers: { authorization: `Bearer ${text}` } };
    }),
  );
  const measure = async (counts: boolean) => {
    counter.count = counts ? count : () => {};
    const cpuBefore = process.cpuUsage();
    const slice = await autocannon({ url, requests, ...load });
    const { user, system } = process.cpuUsage(cpuBefore);
    await counter.flush();
    if (slice.non2xx > 0 || slice.errors > 0) throw new Error(`GET /me failed ${slice.non2xx + slice.errors} times`);
    return { perSecond: slice.requests.average, cpuUs: (user + system) / slice.requests.total };
  };
  await measure(true);
  const pairs: { counted: Awaited<ReturnType<typeof measure>>; bare: Awaited<ReturnType<typeof measure>> }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = await measure(round % 2 === 0);
    const second = await measure(round % 2 !== 0);
    pairs.push(round % 2 === 0 ? { counted: first, bare: second } : { counted: second, bare: first });
  }
  counter.count = count;
  const throughputs = pairs.map(({ counted, bare }) => counted.perSecond / bare.perSecond).toSorted((a, b) => a - b);
  const cpu = median(pairs.map(({ counted, bare }) => counted.cpuUs / bare.cpuUs));
  const ratio = median(throughputs);
  const spread = [0.25, 0.75].map((part) => throughputs[Math.floor(part * throughputs.length)]?.toFixed(3)).join(' to ');
  console.log(
    `GET /me            ${median(pairs.map(({ bare }) => bare.perSecond)).toFixed(0)} requests/s of ${tokens} tokens, not counted`,
  );
  console.log(`middle half of the rounds: ${spread} of that when counted`);
  report('requests counted: throughput beside none', ratio.toFixed(3), 'at least 0.98', ratio >= 0.98);
  report('requests counted: CPU of the process for a request beside none', cpu.toFixed(3), 'at most 1.02', cpu <= 1.02);
}
