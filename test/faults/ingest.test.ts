import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startJob } from '../../activities/jobs/startJob.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { findJob, type JobRecord } from '../../store/pg/jobs.ts';
import { holdDraft, holdTables } from '../ingest/hold.ts';
import { bare, type IngestWorld, makeXlsx, openWorld, type UploadAnswer } from '../ingest/world.ts';
import { type ApiProcess, startApiProcess } from '../setup/apiProcess.ts';
import { environmentOf, startWorkerProcess, type WorkerProcess } from '../setup/workerProcess.ts';
import { makeDerivedChain } from './derivedChain.ts';
import { makeEditedSource } from './editedSource.ts';
import { makeHeldDeletion } from './heldDeletion.ts';
import { makeHeldReview } from './heldReview.ts';

/** Worker and API are killed at every stage of an ingest: it is finished all the same, and once. */

// A worker that is gone is noticed by its silence, after half a minute.
vi.setConfig({ testTimeout: 240_000 });

let world: IngestWorld;
let worker: WorkerProcess;
const processes: (WorkerProcess | ApiProcess)[] = [];
beforeAll(async () => {
  world = await openWorld({ worker: false });
});
afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await Promise.all(processes.map(({ ended }) => ended));
  await world.stop();
});

let counter = 0;
const makeFile = (rows = 3) => {
  counter += 1;
  return makeXlsx({ S: [...bare(rows), [`P9${counter}`, '別', counter]] });
};

async function startWorker(): Promise<void> {
  worker = await startWorkerProcess(world.api.config);
  processes.push(worker);
}

async function killWorker(): Promise<void> {
  worker.child.kill('SIGKILL');
  await worker.ended;
}

/** In its own time: what is handed to one that was killed while it waited for work is missed for half a minute. */
async function stopWorker(): Promise<void> {
  worker.child.kill('SIGTERM');
  await worker.ended;
}

async function begin(rows?: number) {
  const workbookId = await world.newWorkbook();
  const response = await world.send('在庫.xlsx', await makeFile(rows), { workbookId, fields: { async: 'true' } });
  return { workbookId, jobId: ((await response.json()) as { job_id: string }).job_id };
}

const waitForJob = async (jobId: string) => {
  await expect.poll(async () => (await world.getJob(jobId)).finished_at !== null, { timeout: 150_000, interval: 250 }).toBe(true);
  return world.getJob(jobId);
};
const waitForStage = (jobId: string, stage: string) =>
  expect.poll(async () => (await world.getJob(jobId)).progress?.stage, { timeout: 30_000 }).toBe(stage);
/** Registered is not started: what an API on a busy machine could not start is left to the sweep, which is done here. */
const waitForStart = async (jobId: string) => {
  const { client } = await world.api.services.temporal();
  await expect
    .poll(async () => {
      const job = (await acrossAccounts(() => findJob(world.api.services.db.orm, jobId))) as JobRecord;
      await startJob(world.api.services, job);
      return client.workflow
        .getHandle(job.workflowId)
        .describe()
        .then(() => 'started', String);
    })
    .toBe('started');
};
const count = async (statement: string, id: string) => (await world.api.sql.query(statement, [id])).rowCount;

/** One raw table, one structured one, one charge, one of each event, nothing left over. */
async function expectOnce(workbookId: string, jobId: string, rows = 4): Promise<void> {
  expect(await waitForJob(jobId)).toMatchObject({
    status: 'succeeded',
    result: { structuring: 'structured', credits_charged: expect.any(Number) },
  });
  expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
  expect(await world.listNames('archived', workbookId)).toEqual(['在庫_原本']);
  expect(await count('SELECT 1 FROM tables WHERE workbook_id = $1', workbookId)).toBe(2);
  expect(await world.query('SELECT count(*)::INT AS n, count(DISTINCT 品番)::INT AS different FROM 在庫', workbookId)).toEqual([
    { n: rows, different: rows },
  ]);
  expect(await count('SELECT 1 FROM landings l JOIN tables t ON t.id = l.table_id WHERE t.workbook_id = $1', workbookId)).toBe(2);
  expect(await count("SELECT 1 FROM usage_entries WHERE scope = $1 AND kind = 'credits'", workbookId)).toBe(1);
  expect(await count('SELECT 1 FROM job_drafts WHERE job_id = $1', jobId)).toBe(0);
  expect((await world.readEvents(workbookId)).map(({ type, data }) => [type, data.name])).toEqual([
    ['artifact.updated', '在庫'],
    ['artifact.updated', '在庫_原本'],
    ['artifact.updated', '在庫'],
    ['source.materialized', '在庫.xlsx'],
    ['job.completed', undefined],
  ]);
}

describe('a worker that is killed', () => {
  it('while files are read, structured and promoted, tables reviewed and an account deleted, leaves each of them to the next', async () => {
    const credits = await world.readCredits();
    const review = await makeHeldReview(world);
    const deletion = await makeHeldDeletion(world);
    const [reading, structuring, promoting] = [await begin(), await begin(), await begin()];
    const holds = [await holdDraft(world.api.sql, reading.jobId, 'raw'), await holdDraft(world.api.sql, structuring.jobId, 'tables')];
    const early = await holdDraft(world.api.sql, promoting.jobId, 'tables');
    await startWorker();
    await waitForStage(promoting.jobId, 'structure');
    holds.push(await holdTables(world.api.sql, promoting.workbookId));
    await early.letGo();
    await waitForStage(promoting.jobId, 'promote');
    await waitForStage(structuring.jobId, 'structure');
    await waitForStage(reading.jobId, 'read');
    await review.reached();
    await deletion.reached();
    await killWorker();
    for (const hold of [...holds, review, deletion]) await hold.letGo();
    await startWorker();
    for (const { workbookId, jobId } of [reading, structuring, promoting]) await expectOnce(workbookId, jobId);
    await review.expectOnce();
    await deletion.expectOnce();
    expect(await world.readCredits()).toMatchObject({ used: credits.used + 3, remaining: credits.remaining - 3 });
  });

  it('twice, at any moment, over larger files, revised and pushed ones and derived tables, loses nothing and does nothing twice', async () => {
    const chain = await makeDerivedChain(world);
    const [held, free] = [await makeEditedSource(world, true), await makeEditedSource(world)];
    const credits = await world.readCredits();
    // One revision is killed while it brings the edits over, the other at any moment.
    await stopWorker();
    const revised = [{ source: held, jobId: await held.begin() }];
    const early = await holdDraft(world.api.sql, revised[0]?.jobId ?? '', 'tables');
    await startWorker();
    const begun: Awaited<ReturnType<typeof begin>>[] = [];
    for (let kills = 0; kills < 2; kills += 1) {
      begun.push(...(await Promise.all(Array.from({ length: 4 }, () => begin(4_000)))));
      await chain.begin();
      const hold = kills === 0 ? await held.hold(early) : null;
      if (kills === 1) revised.push({ source: free, jobId: await free.begin() });
      await delay(randomInt(100, 2_500));
      await killWorker();
      await hold?.letGo();
      for (const { source } of revised) await source.expectWhole();
      await startWorker();
    }
    for (const { workbookId, jobId } of begun) await expectOnce(workbookId, jobId, 4_001);
    await chain.expectOnce();
    for (const { source, jobId } of revised) {
      await waitForJob(jobId);
      await source.expectOnce(jobId);
    }
    // 12,006 cells each: every started twenty thousand are one credit.
    expect((await world.readCredits()).used).toBe(credits.used + begun.length + revised.length);
  });
});

describe('an API that is killed', () => {
  const send = async (api: ApiProcess, workbookId: string, bytes: Uint8Array, key: string, fields: Record<string, string> = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), '在庫.xlsx');
    return fetch(`${api.url}/api/v1/workbooks/${workbookId}/sources`, {
      method: 'POST',
      body: form,
      headers: { Authorization: `Bearer ${world.owner.session}`, 'Idempotency-Key': key },
    });
  };
  const start = async () => {
    const api = await startApiProcess(environmentOf(world.api.config));
    processes.push(api);
    return api;
  };
  const findRow = async (workbookId: string) =>
    (
      await world.api.sql.query<{ id: string; stage: string | null; status: string }>(
        'SELECT id, stage, status FROM jobs WHERE workbook_id = $1',
        [workbookId],
      )
    ).rows[0];

  it.each(['read', 'structure', 'done'])(
    'while its caller waits, at stage %s, answers the same request again with what came of it',
    async (stage) => {
      await stopWorker();
      const workbookId = await world.newWorkbook();
      const bytes = await makeFile();
      const first = await start();
      const unheard = send(first, workbookId, bytes, `key-${stage}`).then(
        () => 'answered',
        () => 'cut off',
      );
      await expect.poll(async () => (await findRow(workbookId))?.id).toBeDefined();
      const jobId = (await findRow(workbookId))?.id as string;
      const hold = stage === 'done' ? null : await holdDraft(world.api.sql, jobId, stage === 'read' ? 'raw' : 'tables');
      await waitForStart(jobId);
      // Stopped rather than quick: it cannot answer before it is killed.
      first.child.kill('SIGSTOP');
      await startWorker();
      await waitForStage(jobId, stage);
      first.child.kill('SIGKILL');
      await first.ended;
      expect(await unheard).toBe('cut off');
      await hold?.letGo();
      const second = await start();
      const again = await send(second, workbookId, bytes, `key-${stage}`);
      expect(again.status).toBe(201);
      const body = (await again.json()) as UploadAnswer;
      expect(body).toMatchObject({ structuring: 'structured', credits_charged: 1 });
      const third = await send(second, workbookId, bytes, `key-${stage}`);
      expect([third.status, third.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
      expect(await third.json()).toEqual(body);
      expect(await count('SELECT 1 FROM sources WHERE workbook_id = $1', workbookId)).toBe(1);
      expect(await count('SELECT 1 FROM jobs WHERE workbook_id = $1', workbookId)).toBe(1);
      expect(await count("SELECT 1 FROM usage_entries WHERE scope = $1 AND kind = 'credits'", workbookId)).toBe(1);
      await second.stop();
    },
  );
});
