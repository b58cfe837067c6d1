import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeId } from '../../store/services.ts';
import { ensureSchedules, scheduleId } from '../../store/temporal/schedules.ts';
import { holdDraft, holdSource } from '../ingest/hold.ts';
import { bare, type IngestWorld, makeXlsx, openWorld, scattered } from '../ingest/world.ts';
import { ok } from '../setup/api.ts';
import { waitForSchedule } from '../setup/schedules.ts';
import { keepHistory, replayHistory } from './replay.ts';

let world: IngestWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.stop());

const temporal = async () => (await world.api.services.temporal()).client;

async function handleOf(jobId: string) {
  const { rows } = await world.api.sql.query<{ workflow_id: string }>('SELECT workflow_id FROM jobs WHERE id = $1', [jobId]);
  return (await temporal()).workflow.getHandle(rows[0]?.workflow_id as string);
}

async function begin(bytes: Uint8Array, fields: Record<string, string> = {}) {
  const workbookId = await world.newWorkbook();
  const response = await world.send('在庫.xlsx', bytes, { workbookId, fields: { async: 'true', ...fields } });
  return { workbookId, jobId: ((await response.json()) as { job_id: string }).job_id };
}

const newestJob = async (kind: string) =>
  (await world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE kind = $1 ORDER BY id DESC LIMIT 1', [kind])).rows[0]?.id as string;

describe('ingest', () => {
  it.each([
    ['promoted', 'ingestAtOnce', () => makeXlsx({ S: bare(3) }), {}],
    ['landed', 'ingestAtOnceSkipped', () => makeXlsx({ S: bare(4) }), { structuring: 'skip' }],
    ['fell back', 'ingestAtOnceFallenBack', () => makeXlsx({ S: scattered() }), {}],
  ])('ends as %s', async (end, name, make, fields) => {
    const { jobId } = await begin(await make(), fields);
    const handle = await handleOf(jobId);
    expect(await handle.result()).toBe(end);
    expect((await world.getJob(jobId)).status).toBe('succeeded');
    const described = await handle.describe();
    expect(await described.staticSummary()).toBe('ingest 在庫.xlsx');
    expect(described.memo).toEqual({ job: jobId, request: expect.stringMatching(/^req_/) });
    await keepHistory(name, handle);
  });

  it('ends as cancelled', async () => {
    await world.stopWorker();
    const { jobId } = await begin(await makeXlsx({ S: bare(5) }));
    const hold = await holdDraft(world.api.sql, jobId, 'tables');
    await world.startWorker();
    await expect.poll(async () => (await world.getJob(jobId)).progress?.stage).toBe('structure');
    await world.cancelJob(jobId);
    const handle = await handleOf(jobId);
    expect(await handle.result()).toBe('cancelled');
    await hold.letGo();
    await keepHistory('ingestAtOnceCancelled', handle);
  });

  it('goes on step by step where both at once failed', async () => {
    await world.stopWorker();
    const { workbookId, jobId } = await begin(await makeXlsx({ S: bare(8) }));
    // Longer than a change waits for others.
    const { rows } = await world.api.sql.query<{ source: string }>("SELECT input ->> 'sourceId' AS source FROM jobs WHERE id = $1", [
      jobId,
    ]);
    const hold = await holdSource(world.api.sql, rows[0]?.source as string);
    await world.startWorker();
    const handle = await handleOf(jobId);
    const begun = async () =>
      (await handle.fetchHistory()).events?.flatMap(({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name ?? []);
    // A step that was handed to the worker which has just ended is missed after half a minute.
    await expect.poll(begun, { timeout: 60_000 }).toContain('landRaw');
    await hold.letGo();
    expect(await handle.result()).toBe('promoted');
    expect(await begun()).toEqual(['prepareTables', 'landRaw', 'structure', 'promote']);
    expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
    expect(await world.listNames('archived', workbookId)).toEqual(['在庫_原本']);
    await keepHistory('ingestStepByStep', handle);
  });
});

describe('analyze and materialize', () => {
  it('end with their work done', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await makeXlsx({ S: bare(3) }), { workbookId, fields: { mode: 'staged' } });
    const path = { workbook_id: workbookId, source_name: '在庫.xlsx' };
    const { client } = world.owner;
    ok(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', { params: { path } }));
    ok(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', { params: { path } }));
    for (const [kind, end] of [
      ['analyze', 'analyzed'],
      ['materialize', 'materialized'],
    ] as const) {
      const handle = await handleOf(await newestJob(kind));
      expect(await handle.result()).toBe(end);
      await keepHistory(kind, handle);
    }
  });
});

describe('sweepJobs', () => {
  it('runs every half minute, in a run that sleeps, from the start of the first worker', async () => {
    const schedule = (await temporal()).schedule.getHandle(scheduleId('sweep-jobs', world.api.config.temporal.taskQueue));
    const { spec, policies, action } = await waitForSchedule(world.api.services, 'sweep-jobs');
    expect(spec.intervals).toMatchObject([{ every: 3 * 3_600_000 }]);
    expect(policies.overlap).toBe('BUFFER_ONE');
    expect(action).toMatchObject({ workflowType: 'sweepJobs', args: [{ everySeconds: 30, forSeconds: 10_800 }] });
    await expect.poll(async () => (await schedule.describe()).info.runningActions.length).toBe(1);
    // Another worker leaves it alone.
    await ensureSchedules(await world.api.services.temporal(), world.api.config);
    const { info } = await schedule.describe();
    expect([info.runningActions.length, info.recentActions.length]).toEqual([1, 1]);
  });

  it('sweeps in rounds until its time is over', async () => {
    const { taskQueue } = world.api.config.temporal;
    const options = { workflowId: makeId('req'), taskQueue, args: [{ everySeconds: 1, forSeconds: 2.5 }] };
    const handle = await (await temporal()).workflow.start('sweepJobs', options);
    expect(await handle.result()).toBe(0);
    const { events } = await handle.fetchHistory();
    expect(events?.filter(({ activityTaskCompletedEventAttributes: done }) => done).length).toBeGreaterThan(1);
    await keepHistory('sweepJobsInRounds', handle);
  });

  it('starts what was registered and not started, once', async () => {
    const { taskQueue } = world.api.config.temporal;
    // Registered by an API that cannot reach Temporal, as by one that is killed before it could.
    const cut = await world.api.another({ TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_TASK_QUEUE: taskQueue });
    const workbookId = await world.newWorkbook();
    const form = new FormData();
    form.set('file', new Blob([(await makeXlsx({ S: bare(6) })) as Uint8Array<ArrayBuffer>]), '在庫.xlsx');
    form.set('async', 'true');
    const response = await cut.fetch(`/api/v1/workbooks/${workbookId}/sources`, { method: 'POST', body: form, token: world.owner.session });
    expect(response.status).toBe(202);
    const { job_id: jobId } = (await response.json()) as { job_id: string };
    expect((await world.getJob(jobId)).status).toBe('pending');
    await world.api.sql.query(
      "UPDATE jobs SET created_at = now() - interval '1 minute', admitted_at = now() - interval '1 minute' WHERE id = $1",
      [jobId],
    );
    const sweep = async () => {
      const handle = await (await temporal()).workflow.start('sweepJobs', { workflowId: makeId('req'), taskQueue });
      return { handle, started: (await handle.result()) as number };
    };
    const first = await sweep();
    expect(await world.waitForJob(jobId)).toMatchObject({ status: 'succeeded' });
    expect((await sweep()).started).toBe(0);
    expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
    await keepHistory('sweepJobs', first.handle);
  });

  it('leaves a job that was cancelled before it began', async () => {
    await world.stopWorker();
    const { taskQueue } = world.api.config.temporal;
    const cut = await world.api.another({ TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_TASK_QUEUE: taskQueue });
    const workbookId = await world.newWorkbook();
    const form = new FormData();
    form.set('file', new Blob([(await makeXlsx({ S: bare(7) })) as Uint8Array<ArrayBuffer>]), '在庫.xlsx');
    form.set('async', 'true');
    const response = await cut.fetch(`/api/v1/workbooks/${workbookId}/sources`, { method: 'POST', body: form, token: world.owner.session });
    const { job_id: jobId } = (await response.json()) as { job_id: string };
    expect(await world.cancelJob(jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
    const params = { path: { workbook_id: workbookId } };
    expect(ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources', { params })).sources).toEqual([]);
    await world.startWorker();
    await delay(500);
    expect(await world.getJob(jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
  });
});

describe('ingest: the recorded histories', () => {
  const atOnce = ['ingestAtOnce', 'ingestAtOnceSkipped', 'ingestAtOnceFallenBack', 'ingestAtOnceCancelled', 'ingestStepByStep'];
  // As workers of earlier releases ran them.
  const inSteps = ['ingest', 'ingestSkipped', 'ingestFallenBack', 'ingestCancelled'];
  it.each([...atOnce, ...inSteps, 'analyze', 'materialize', 'sweepJobs', 'sweepJobsInRounds'])(
    '%s is replayed by the workflow as it is now',
    (name) => replayHistory(name),
  );

  it('of another order is noticed', async () => {
    const swap = (text: string) =>
      text.replaceAll('"landRaw"', '"other"').replaceAll('"structure"', '"landRaw"').replaceAll('"other"', '"structure"');
    await expect(replayHistory('ingest', swap)).rejects.toThrow(/[Nn]ondeterminism|TMPRL1100/);
  });
});
