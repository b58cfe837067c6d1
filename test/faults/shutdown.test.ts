import { type IncomingMessage, request } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { openWorld } from '../ingest/world.ts';
import { ok } from '../setup/api.ts';
import { type ApiProcess, startApiProcess } from '../setup/apiProcess.ts';
import { makeTable } from '../setup/tables.ts';
import { environmentOf, startWorkerProcess, type WorkerProcess } from '../setup/workerProcess.ts';
import { makeBook } from '../transforms/world.ts';

/** SIGTERM: what is under way ends well, within a bound, and nothing new is begun. */

const world = await openWorld({ worker: false, env: { SVC_ANSWER_WAIT_MS: '200' } });
const started: (ApiProcess | WorkerProcess)[] = [];
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await world.stop();
});

async function startApi(env: Record<string, string>): Promise<ApiProcess> {
  const api = await startApiProcess({ ...environmentOf(world.api.config), ...env });
  started.push(api);
  return api;
}

async function startWorker(env: Record<string, string>): Promise<WorkerProcess> {
  const worker = await startWorkerProcess(world.api.config, env);
  started.push(worker);
  return worker;
}

const authorization = `Bearer ${world.owner.session}`;
const boundary = 'a-boundary';
const formStart = [
  `--${boundary}\r\nContent-Disposition: form-data; name="async"\r\n\r\ntrue`,
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.csv"\r\nContent-Type: text/csv\r\n\r\na,b\n`,
].join('\r\n');

/** A form whose file has begun to arrive. */
async function beginUpload(api: ApiProcess) {
  const sending = request(`${api.url}/api/v1/workbooks/${world.workbookId}/sources`, {
    method: 'POST',
    headers: { authorization, 'content-type': `multipart/form-data; boundary=${boundary}` },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => sending.once('response', resolve).once('error', reject));
  await new Promise<void>((sent) => sending.write(formStart, () => sent()));
  return {
    more: () => sending.write('1,2\n'),
    async finish(): Promise<number> {
      sending.end(`3,4\n\r\n--${boundary}--\r\n`);
      const answer = await answered;
      answer.resume();
      return answer.statusCode ?? 0;
    },
    cutOff: () => answered.then(() => 'answered').catch(() => 'cut off'),
  };
}

const readStatus = (api: ApiProcess) =>
  fetch(`${api.url}/readyz`).then(
    ({ status, headers }) => `${status} ${headers.get('connection')}`,
    () => 'refused',
  );

describe('an API that is told to stop', () => {
  it('says so first, then takes nothing new, and ends what is under way', async () => {
    const api = await startApi({ SVC_STOP_DELAY_MS: '3000', SVC_STOP_TIME_MS: '60000' });
    const { client } = world.owner;
    // More than a connection holds of its own.
    const file = 'a,b\n'.repeat(6_000_000);
    expect((await world.send('large.csv', file, { fields: { async: 'true', structuring: 'skip' } })).status).toBe(202);
    await makeTable(
      client,
      world.workbookId,
      'numbers',
      [{ name: 'n', type: 'BIGINT' }],
      Array.from({ length: 1000 }, (_, n) => ({ n })),
    );
    const call = (path: string, init: RequestInit = {}) =>
      fetch(`${api.url}${path}`, { ...init, headers: { authorization, 'content-type': 'application/json', ...init.headers } });

    const upload = await beginUpload(api);
    const download = await call(`/api/v1/workbooks/${world.workbookId}/sources/large.csv/download`);
    const events = await call('/api/v1/me/events', { headers: { accept: 'text/event-stream' } });
    const ask = (most: number) =>
      call(`/api/v1/workbooks/${world.workbookId}/query`, {
        method: 'POST',
        body: JSON.stringify({
          sql: `SELECT sum(a.n * b.n + c.n) AS total FROM numbers a, numbers b, numbers c WHERE c.n < ${most}`,
          timeout_ms: 60_000,
        }),
      });
    // As much work as outlasts the delay on this machine, as busy as it is.
    await (await ask(1)).text();
    const startMs = performance.now();
    await (await ask(20)).text();
    const query = ask(Math.ceil((20 * 5_000) / (performance.now() - startMs)));
    await expect.poll(async () => (await call('/metrics')).text()).toMatch(/^svc_query_processes\{state="busy"\} 1$/m);

    api.child.kill('SIGTERM');
    await expect.poll(() => readStatus(api)).toBe('503 close');
    // A balancer that has not heard of it yet.
    expect((await call('/api/v1/me')).status).toBe(200);
    await expect.poll(() => readStatus(api)).toBe('refused');

    upload.more();
    expect(await upload.finish()).toBe(202);
    expect((await download.arrayBuffer()).byteLength).toBe(file.length);
    expect(await events.text()).toContain('retry: ');
    const answer = await query;
    expect([answer.status, await answer.json()]).toMatchObject([200, { rows: [{ total: expect.anything() }] }]);
    await api.ended;
    expect([api.child.exitCode, api.child.signalCode]).toEqual([0, null]);
  });

  it('ends at its bound, whoever has not finished', async () => {
    const api = await startApi({ SVC_STOP_TIME_MS: '500' });
    const upload = await beginUpload(api);
    const outcome = upload.cutOff();
    await expect.poll(() => readStatus(api)).toContain('200');
    api.child.kill('SIGTERM');
    await api.ended;
    expect(api.child.exitCode).toBe(1);
    expect(api.output()).toContain('not done after 0.5 s');
    expect(await outcome).toBe('cut off');
  });
});

describe('an API that is killed', () => {
  it('loses no request that it counted more than a second ago', async () => {
    const api = await startApi({});
    const sumCounts = async () =>
      Number((await world.api.sql.query<{ n: string }>('SELECT coalesce(sum(requests), 0) AS n FROM request_counts')).rows[0]?.n);
    const before = await sumCounts();
    const ask = async (times: number) => {
      for (let n = 0; n < times; n += 1) expect((await fetch(`${api.url}/api/v1/me`, { headers: { authorization } })).status).toBe(200);
    };
    await ask(20);
    await expect.poll(sumCounts).toBe(before + 20);
    await ask(5);
    api.child.kill('SIGKILL');
    await api.ended;
    const after = await sumCounts();
    expect(after).toBeGreaterThanOrEqual(before + 20);
    expect(after).toBeLessThanOrEqual(before + 25);
  });
});

describe('a worker that is told to stop', () => {
  it('breaks off a long step, which the next worker begins again', async () => {
    const first = await startWorker({ SVC_STOP_TIME_MS: '20000' });
    const book = await makeBook(world);
    await book.table(
      'numbers',
      [{ name: 'n', type: 'BIGINT' }],
      Array.from({ length: 2000 }, (_, n) => ({ n })),
    );
    // Many minutes.
    const template = 'SELECT sum(a.n * b.n + c.n * d.n) AS total FROM {{ t }} a, {{ t }} b, {{ t }} c, {{ t }} d';
    const begun = ok(await book.tryCreate({ name: 'endless', template, args: { t: 'numbers' } })) as { job_id: string };
    const { rows } = await world.api.sql.query<{ workflow_id: string }>('SELECT workflow_id FROM jobs WHERE id = $1', [begun.job_id]);
    const { client } = await world.api.services.temporal();
    const handle = client.workflow.getHandle(rows[0]?.workflow_id ?? '');
    const readAttempt = async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.find(({ lastStartedTime }) => lastStartedTime)?.attempt;
    };
    await expect.poll(readAttempt).toBe(1);
    first.child.kill('SIGTERM');
    await first.ended;
    expect([first.child.exitCode, first.child.signalCode]).toEqual([0, null]);
    expect(await world.getJob(begun.job_id)).toMatchObject({ status: 'running' });
    await startWorker({});
    await expect.poll(readAttempt).toBe(2);
    await world.cancelJob(begun.job_id);
    expect(await world.waitForJob(begun.job_id)).toMatchObject({ status: 'failed', error: 'cancelled' });
  });
});
