import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { deliverThroughFaults } from '../test/webhooks/throughFaults.ts';
import { median, report, timeMs } from './measure.ts';
import { type BenchRig, startWorkerProcess } from './services.ts';
import type { Arrivals } from './webhookReceiver.ts';

const listening = 50;

/** Short waits between tries, and enough of them for a receiver that is away for a while. */
export const webhookEnv = {
  SVC_OUTBOUND_ALLOW: '127.0.0.1',
  SVC_WEBHOOK_DELAYS: ['100ms', '200ms', '500ms', ...Array<string>(60).fill('1s')].join(','),
};

interface Receiver {
  url: string;
  forget(): void;
  ask(): Promise<Arrivals>;
  stop(): void;
}

async function startReceiver(): Promise<Receiver> {
  const child = fork(fileURLToPath(new URL('./webhookReceiver.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    forget: () => child.send('forget'),
    async ask() {
      child.send('tell');
      return ((await once(child, 'message')) as [Arrivals])[0];
    },
    stop: () => child.disconnect(),
  };
}

/** What an edit costs with many listeners, how many deliveries a second go out, and that none is lost or out of order. */
export async function benchWebhooks(rig: BenchRig): Promise<void> {
  const send = async (path: string, body: object, token = rig.token) => {
    const answer = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return JSON.parse(text) as { id: string; token?: string };
  };
  const makeBook = async () => {
    const { id } = await send('/api/v1/workbooks', { title: 'bench' });
    await send(`/api/v1/workbooks/${id}/tables`, { name: 't', columns: [{ name: 'a', type: 'BIGINT' }] });
    return id;
  };
  const edit = (book: string) => send(`/api/v1/workbooks/${book}/tables/t/rows`, { rows: [{ a: 1 }], expected_version: null });
  /** A webhook hears only of the workbook that the credential is pinned to. */
  const pin = async (book: string) =>
    (await send('/api/v1/me/tokens', { name: 'bench', resource: `workbook:${book}`, scopes: ['workbooks:read'] })).token;
  const receiver = await startReceiver();
  const waitFor = async (count: number) => {
    while ((await receiver.ask()).delaysMs.length < count) await delay(100);
    return receiver.ask();
  };

  const [quiet, heard] = [await makeBook(), await makeBook()];
  const token = await pin(heard);
  const hooks: string[] = [];
  while (hooks.length < listening) hooks.push((await send('/api/v1/me/webhooks', { url: `${receiver.url}/hook` }, token)).id);
  await edit(heard);
  await waitFor(listening);

  // In phases, so that the deliveries of one do not fall into the time of the other.
  const times: Record<'quiet' | 'heard', number[]> = { quiet: [], heard: [] };
  for (let phase = 0; phase < 6; phase += 1) {
    const [name, book] = phase % 2 === 0 ? (['quiet', quiet] as const) : (['heard', heard] as const);
    for (let n = 0; n < 20; n += 1) {
      times[name].push(await timeMs(() => edit(book)));
      await delay(400);
    }
    await waitFor(listening * (times.heard.length + 1));
  }
  const [without, having] = [median(times.quiet), median(times.heard)];
  const ratio = having / without;
  report(
    `an edit with ${listening} webhooks over one without (${having.toFixed(1)} and ${without.toFixed(1)} ms)`,
    ratio.toFixed(2),
    '<= 1.1',
    ratio <= 1.1,
  );

  receiver.forget();
  const burst = 60;
  for (let n = 0; n < burst; n += 1) await edit(heard);
  const { firstAt, lastAt, delaysMs } = await waitFor(burst * listening);
  const rate = (delaysMs.length / (lastAt - firstAt)) * 1000;
  report(`deliveries a second, of ${delaysMs.length}`, rate.toFixed(0), '>= 100', rate >= 100);

  for (const id of hooks)
    await fetch(`${rig.url}/api/v1/me/webhooks/${id}`, { method: 'DELETE', headers: { Authorization: `Bearer ${rig.token}` } });
  const other = await makeBook();
  const listener = await pin(other);
  for (let n = 1; n < listening; n += 1) await send('/api/v1/me/webhooks', { url: `${receiver.url}/hook` }, listener);
  await send('/api/v1/me/webhooks', { url: `${receiver.url}/silent` }, listener);
  receiver.forget();
  for (let n = 0; n < 20; n += 1) {
    await edit(other);
    await delay(1_000);
  }
  const others = await waitFor(20 * (listening - 1));
  const delayMs = median(others.delaysMs);
  report(
    `delay of the others beside one dead receiver (median of ${others.delaysMs.length})`,
    `${delayMs} ms`,
    '< 2000 ms',
    delayMs < 2_000,
  );
  receiver.stop();

  const books: string[] = [];
  while (books.length < 10) books.push(await makeBook());
  let worker: { pid: number; stop(): Promise<void> } | null = null;
  const events = 1_000;
  const wide = (await send('/api/v1/me/tokens', { name: 'wide', scopes: ['workbooks:read'] })).token;
  const seen = await deliverThroughFaults({
    books,
    events,
    edit,
    subscribe: (url) => send('/api/v1/me/webhooks', { url, events: ['artifact.updated'] }, wide),
    async killWorker() {
      process.kill(worker?.pid ?? (rig.workerPid as number), 'SIGKILL');
      worker = await startWorkerProcess(rig.config);
    },
  });
  const wrong = seen.outOfOrder.length + seen.renamed.length;
  report(`${events} events through faults (${seen.received} tries): lost, late or renamed`, String(wrong), '0', wrong === 0);
  await (worker as { stop(): Promise<void> } | null)?.stop();
}
