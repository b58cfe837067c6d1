import { afterAll, expect, it } from 'vitest';
import { ok, startTestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { editRows, makeTable } from '../setup/tables.ts';
import { startWorkerProcess, type WorkerProcess } from '../setup/workerProcess.ts';
import { deliverThroughFaults } from '../webhooks/throughFaults.ts';

/** The short form of what `npm run bench webhooks` does with a thousand events. */

const api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
let worker: WorkerProcess | null = null;
const start = async () => {
  worker = await startWorkerProcess(api.config, { SVC_WEBHOOK_DELAYS: Array(30).fill('200ms').join(',') });
};
const kill = async (signal: 'SIGKILL' | 'SIGTERM') => {
  worker?.child.kill(signal);
  await worker?.ended;
};
afterAll(async () => {
  await kill('SIGTERM');
  await api.stop();
});

it('every event is taken once at least, in order for each workbook, whatever fails on the way', async () => {
  await start();
  const { client } = await api.signUp('Owner');
  const books = [await makeWorkbook(client, 'One'), await makeWorkbook(client, 'Two')];
  for (const book of books) await makeTable(client, book, '表', [{ name: 'a', type: 'BIGINT' }]);
  const events = 40;
  const report = await deliverThroughFaults({
    books,
    events,
    edit: (book) => editRows(client, book, '表', [{ a: 1 }]),
    subscribe: async (url) => ok(await client.POST('/api/v1/me/webhooks', { body: { url } })),
    async killWorker() {
      await kill('SIGKILL');
      await start();
    },
  });
  expect(report).toEqual({ received: expect.any(Number), outOfOrder: [], renamed: [] });
  expect(report.received).toBeGreaterThan(events);
}, 300_000);
