import { describe, expect, it } from 'vitest';
import { sweepJobs } from '../../activities/jobs/sweepJobs.ts';
import { ok } from '../setup/api.ts';
import { holdDraft, holdTables } from './hold.ts';
import { makeNewFile, type UploadAnswer, useWorld } from './world.ts';

const world = await useWorld();

const listSources = async (workbookId: string) =>
  ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources', { params: { path: { workbook_id: workbookId } } })).sources;

/** An ingest that nobody works on yet. */
async function begin(bytes: Uint8Array, fields: Record<string, string> = {}) {
  const workbookId = await world.newWorkbook();
  await world.stopWorker();
  const response = await world.send('在庫.xlsx', bytes, { workbookId, fields: { async: 'true', ...fields } });
  return { workbookId, jobId: ((await response.json()) as { job_id: string }).job_id };
}

/** The same, kept at the end of a stage. */
async function beginHeld(bytes: Uint8Array, draft: 'raw' | 'tables') {
  const begun = await begin(bytes);
  const hold = await holdDraft(world.api.sql, begun.jobId, draft);
  await world.startWorker();
  await waitForStage(begun.jobId, draft === 'raw' ? 'read' : 'structure');
  return { ...begun, hold };
}

const waitForStage = (jobId: string, stage: string) => expect.poll(async () => (await world.getJob(jobId)).progress?.stage).toBe(stage);

async function expectNothingHeld(jobId: string): Promise<void> {
  const count = async (statement: string) => (await world.api.sql.query(statement, [jobId])).rowCount;
  expect(await count("SELECT 1 FROM structurings WHERE job_id = $1 AND state = 'building'")).toBe(0);
}

describe('cancelJob: an ingest that is cancelled', () => {
  it('while it waits leaves nothing', async () => {
    const credits = await world.readCredits();
    const { workbookId, jobId } = await begin(await makeNewFile());
    const cancelling = world.cancelToEnd(jobId);
    await world.startWorker();
    expect(await cancelling).toMatchObject({ status: 'failed', error: 'cancelled' });
    expect(await listSources(workbookId)).toEqual([]);
    expect(await world.listNames('active', workbookId)).toEqual([]);
    expect(await world.readCredits()).toEqual(credits);
    expect((await world.readEvents(workbookId)).map(({ type, data }) => [type, data.status])).toEqual([['job.completed', 'failed']]);
  });

  it('while it is read leaves nothing', async () => {
    const credits = await world.readCredits();
    const { workbookId, jobId, hold } = await beginHeld(await makeNewFile(), 'raw');
    expect(await world.cancelToEnd(jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
    await hold.letGo();
    expect(await listSources(workbookId)).toEqual([]);
    expect(await world.listNames('active', workbookId)).toEqual([]);
    expect(await world.readCredits()).toEqual(credits);
    await expectNothingHeld(jobId);
  });

  it('while it is structured leaves the raw table, and can be asked for again', async () => {
    const credits = await world.readCredits();
    const bytes = await makeNewFile();
    const { workbookId, jobId, hold } = await beginHeld(bytes, 'tables');
    expect((await world.readCredits()).remaining).toBe(credits.remaining - 1);
    expect(await world.cancelToEnd(jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
    await hold.letGo();
    expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
    expect(await listSources(workbookId)).toMatchObject([
      { status: 'materialized', structuring: 'raw_fallback', structuring_reason: 'failed:cancelled', artifacts: ['在庫'] },
    ]);
    expect(await world.readCredits()).toEqual(credits);
    await expectNothingHeld(jobId);
    const again = await world.upload('在庫.xlsx', bytes, { workbookId });
    expect(again).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    expect(await world.listNames('archived', workbookId)).toEqual(['在庫_原本']);
  });

  it('while it is promoted is either promoted or not', async () => {
    const credits = await world.readCredits();
    const { workbookId, jobId, hold: structuring } = await beginHeld(await makeNewFile(), 'tables');
    const promoting = await holdTables(world.api.sql, workbookId);
    await structuring.letGo();
    await waitForStage(jobId, 'promote');
    const cancelled = await world.cancelJob(jobId);
    await promoting.letGo();
    const job = await world.waitForJob(jobId);
    if (cancelled.finished_at !== null) expect(job).toEqual(cancelled);
    if (job.status === 'failed') {
      expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
      expect(await world.listNames('archived', workbookId)).toEqual([]);
      expect(await world.readCredits()).toEqual(credits);
    } else {
      expect(await world.listNames('archived', workbookId)).toEqual(['在庫_原本']);
      expect((await world.readCredits()).used).toBe(credits.used + 1);
    }
    await expectNothingHeld(jobId);
  });

  it('after its end stays as it ended', async () => {
    const workbookId = await world.newWorkbook();
    const response = await world.send('在庫.xlsx', await makeNewFile(), { workbookId, fields: { async: 'true' } });
    const { job_id: jobId } = (await response.json()) as { job_id: string };
    const done = await world.waitForJob(jobId);
    expect(await world.cancelJob(jobId)).toEqual(done);
  });

  it('tells whoever waits for it', async () => {
    const workbookId = await world.newWorkbook();
    await world.stopWorker();
    const waiting = world.send('在庫.xlsx', await makeNewFile(), { workbookId });
    const findJob = async () =>
      (await world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE workbook_id = $1', [workbookId])).rows[0]?.id;
    await expect.poll(findJob).toBeDefined();
    const cancelling = world.cancelToEnd((await findJob()) as string);
    await world.startWorker();
    await cancelling;
    const response = await waiting;
    expect([response.status, await response.json()]).toMatchObject([409, { type: 'urn:svc:problem:in-use', detail: 'cancelled' }]);
  });

  it('leaves a source that was there as it was', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const before = await world.upload('在庫.xlsx', bytes, { workbookId, fields: { mode: 'staged' } });
    await world.stopWorker();
    const response = await world.send('在庫.xlsx', bytes, { workbookId, fields: { async: 'true' } });
    const { job_id: jobId } = (await response.json()) as { job_id: string };
    const cancelling = world.cancelToEnd(jobId);
    await world.startWorker();
    await cancelling;
    expect(await listSources(workbookId)).toEqual([before.source]);
    const upgraded = await world.upload('在庫.xlsx', bytes, { workbookId });
    expect(upgraded.structuring).toBe('structured');
  });

  it('leaves the tables that were made of a source before', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    await world.upload('在庫.xlsx', bytes, { workbookId, fields: { mode: 'staged' } });
    const path = { workbook_id: workbookId, source_name: '在庫.xlsx' };
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', { params: { path } }));
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', { params: { path } }));
    const before = await listSources(workbookId);
    await world.stopWorker();
    const response = await world.send('在庫.xlsx', bytes, { workbookId, fields: { async: 'true' } });
    const cancelling = world.cancelToEnd(((await response.json()) as { job_id: string }).job_id);
    await world.startWorker();
    await cancelling;
    expect(await listSources(workbookId)).toEqual(before);
    expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
  });

  it('because its workbook was deleted is not charged', async () => {
    const credits = await world.readCredits();
    const { workbookId, jobId } = await begin(await makeNewFile());
    const hold = await holdDraft(world.api.sql, jobId, 'tables');
    await world.startWorker();
    await waitForStage(jobId, 'structure');
    ok(await world.owner.client.DELETE('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: workbookId } } }));
    await hold.letGo();
    const readStatus = async () =>
      (await world.api.sql.query<{ status: string }>('SELECT status FROM jobs WHERE id = $1', [jobId])).rows[0]?.status;
    await expect.poll(readStatus).toBe('failed');
    expect(await world.readCredits()).toEqual(credits);
    await expectNothingHeld(jobId);
  });

  it('as a revision changes nothing', async () => {
    const workbookId = await world.newWorkbook();
    const first = await world.upload('在庫.xlsx', await makeNewFile(), { workbookId });
    const credits = await world.readCredits();
    await world.stopWorker();
    const path = `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('在庫.xlsx')}/revise`;
    const waiting = world.send('在庫.xlsx', await makeNewFile(), { path });
    await expect.poll(async () => (await listSources(workbookId))[0]?.status).toBe('ingesting');
    const { rows } = await world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE workbook_id = $1 ORDER BY id DESC LIMIT 1', [
      workbookId,
    ]);
    const jobId = rows[0]?.id as string;
    const hold = await holdDraft(world.api.sql, jobId, 'tables');
    await world.startWorker();
    await waitForStage(jobId, 'structure');
    await world.cancelJob(jobId);
    await hold.letGo();
    expect((await waiting).status).toBe(409);
    expect(await listSources(workbookId)).toEqual([first.source]);
    expect(await world.readCredits()).toEqual(credits);
    await expectNothingHeld(jobId);
  });
});

describe('cancelJob: an analysis and a materialization that are cancelled', () => {
  it('leave the source as it was', async () => {
    const workbookId = await world.newWorkbook();
    const staged: UploadAnswer = await world.upload('在庫.xlsx', await makeNewFile(), { workbookId, fields: { mode: 'staged' } });
    const root = `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('在庫.xlsx')}`;
    let before = staged.source;
    for (const step of ['analyze', 'materialize']) {
      await world.stopWorker();
      const waiting = world.api.fetch(`${root}/${step}`, { method: 'POST', token: world.owner.session });
      await expect.poll(async () => (await listSources(workbookId))[0]?.status).not.toBe(before.status);
      const { rows } = await world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE workbook_id = $1 ORDER BY id DESC LIMIT 1', [
        workbookId,
      ]);
      const cancelling = world.cancelToEnd(rows[0]?.id as string);
      await world.startWorker();
      expect(await cancelling).toMatchObject({ status: 'failed', error: 'cancelled' });
      expect((await waiting).status).toBe(409);
      expect(await listSources(workbookId)).toEqual([before]);
      expect((await world.api.fetch(`${root}/${step}`, { method: 'POST', token: world.owner.session })).status).toBe(200);
      before = (await listSources(workbookId))[0] as typeof before;
    }
  });
});

describe('sweepJobs: a job whose workflow was terminated', () => {
  /** As an operator does it on Temporal's page. */
  async function terminate(jobId: string): Promise<void> {
    const { rows } = await world.api.sql.query<{ workflow_id: string }>('SELECT workflow_id FROM jobs WHERE id = $1', [jobId]);
    const { client } = await world.api.services.temporal();
    await client.workflow.getHandle(rows[0]?.workflow_id as string).terminate('by an operator');
  }
  const age = (jobId: string) => world.api.sql.query("UPDATE jobs SET admitted_at = now() - interval '11 minutes' WHERE id = $1", [jobId]);
  const sweep = () => sweepJobs(world.api.services, { heartbeat() {} });
  const stopped = { status: 'failed', error: 'The work was stopped before it was done.', finished_at: expect.any(String) };

  it('is ended by the sweep: what has landed stays, and nothing is charged', async () => {
    const credits = await world.readCredits();
    const bytes = await makeNewFile();
    const { workbookId, jobId, hold } = await beginHeld(bytes, 'tables');
    await terminate(jobId);
    await hold.letGo();
    await sweep();
    expect((await world.getJob(jobId)).status).toBe('running');
    await age(jobId);
    await sweep();
    expect(await world.getJob(jobId)).toMatchObject(stopped);
    expect(await listSources(workbookId)).toMatchObject([
      { status: 'materialized', structuring: 'raw_fallback', structuring_reason: 'failed:stopped', artifacts: ['在庫'] },
    ]);
    expect(await world.readCredits()).toEqual(credits);
    await expectNothingHeld(jobId);
    expect((await world.upload('在庫.xlsx', bytes, { workbookId })).structuring).toBe('structured');
  });

  it('is ended before anybody has worked on it, and whoever waits is told', async () => {
    const workbookId = await world.newWorkbook();
    const staged = await world.upload('在庫.xlsx', await makeNewFile(), { workbookId, fields: { mode: 'staged' } });
    await world.stopWorker();
    const path = `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('在庫.xlsx')}/analyze`;
    const waiting = world.api.fetch(path, { method: 'POST', token: world.owner.session });
    await expect.poll(async () => (await listSources(workbookId))[0]?.status).not.toBe(staged.source.status);
    const { rows } = await world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE workbook_id = $1', [workbookId]);
    const jobId = rows[0]?.id as string;
    await age(jobId);
    await sweep();
    expect((await world.getJob(jobId)).status).toBe('pending');
    await terminate(jobId);
    await sweep();
    expect(await world.getJob(jobId)).toMatchObject(stopped);
    const response = await waiting;
    expect([response.status, await response.json()]).toMatchObject([503, { type: 'urn:svc:problem:unavailable', detail: stopped.error }]);
    expect(await listSources(workbookId)).toEqual([staged.source]);
  });
});
