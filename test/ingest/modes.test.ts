import { describe, expect, it } from 'vitest';
import { awaitOrAnnounce } from '../../activities/jobs/awaitJob.ts';
import { ok, refused } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { editRows, makeTable } from '../setup/tables.ts';
import { holdDraft, holdTables } from './hold.ts';
import { bare, makeIncomeStatement, makeNewFile, makeXlsx, namesOf, openWorld, type UploadAnswer, useWorld } from './world.ts';

const world = await useWorld();

const allStructured = ['損益計算書_階層1', '損益計算書_階層1_計算項目', '損益計算書_階層2', '損益計算書_科目', 'PL_補足情報'];

describe('uploadSource: structuring=skip', () => {
  it('lands each sheet as it is, free of charge', async () => {
    const workbookId = await world.newWorkbook();
    const before = await world.readCredits();
    const answer = await world.upload('損益.xlsx', await makeIncomeStatement(201), { workbookId, fields: { structuring: 'skip' } });
    expect(answer).toMatchObject({ structuring: 'skipped', credits_charged: 0, source: { status: 'materialized', parse_spec: null } });
    expect(namesOf(answer)).toEqual(['損益']);
    expect(await world.listNames('active', workbookId)).toEqual(['損益']);
    expect(await world.query("SELECT B FROM 損益 WHERE A = '製品売上'", workbookId)).toEqual([{ B: '201' }]);
    expect(await world.readCredits()).toEqual(before);
  });

  it('names several sheets by file and sheet', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeXlsx({ 東京: bare(2), 大阪: bare(3) });
    const answer = await world.upload('支店.xlsx', bytes, { workbookId, fields: { structuring: 'skip' } });
    expect(namesOf(answer)).toEqual(['支店_東京', '支店_大阪']);
  });
});

describe('uploadSource: structuring=null', () => {
  it.each(['null', 'auto'])('%s is auto', async (structuring) => {
    const workbookId = await world.newWorkbook();
    const answer = await world.upload('在庫.xlsx', await makeNewFile(), { workbookId, fields: { structuring } });
    expect(answer.structuring).toBe('structured');
  });

  it('anything else is refused', async () => {
    const response = await world.send('在庫.xlsx', await makeNewFile(), { fields: { structuring: 'maybe' } });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      errors: [{ pointer: '/structuring', detail: 'must be one of "auto", "skip", "defer", null' }],
    });
  });
});

const isWhole = ({ progress }: { progress: { done: number; total: number | null } | null }) => progress?.done === progress?.total;

describe('uploadSource: structuring=defer', () => {
  /** Answered with raw tables while their promotion is held up. */
  async function defer(filename: string, bytes: Uint8Array, change: (workbookId: string) => Promise<void> = async () => {}) {
    const workbookId = await world.newWorkbook();
    await world.stopWorker();
    const sent = world.upload(filename, bytes, { workbookId, fields: { structuring: 'defer' } });
    const jobId = await waitForRegistered(workbookId);
    const hold = await holdDraft(world.api.sql, jobId, 'tables');
    await world.startWorker();
    const answer = await sent;
    await change(workbookId);
    await hold.letGo();
    const job = await world.waitForJob(jobId);
    return { workbookId, answer, job };
  }

  it('answers with raw tables, which give way later', async () => {
    let meanwhile: unknown;
    const { workbookId, answer, job } = await defer('損益.xlsx', await makeIncomeStatement(301), async (id) => {
      meanwhile = [await world.listNames('active', id), (await world.getSource('損益.xlsx', id)).structuring];
    });
    expect(answer).toMatchObject({ structuring: 'deferred', credits_charged: 0, source: { status: 'materialized', artifacts: ['損益'] } });
    expect(answer.artifacts).toMatchObject([{ name: '損益', state: 'active', row_count: 9 }]);
    expect(meanwhile).toEqual([['損益'], 'deferred']);
    expect(job).toMatchObject({ status: 'succeeded', result: { structuring: 'structured', credits_charged: 1 } });
    expect(namesOf(job.result as unknown as UploadAnswer)).toEqual(allStructured);
    expect(await world.listNames('archived', workbookId)).toEqual(['損益_原本']);
    const events = await world.readEvents(workbookId);
    const swapped = events.slice(events.findIndex(({ data }) => data.state === 'archived'));
    expect(swapped.map(({ type, data }) => [type, data.name])).toEqual([
      ['artifact.updated', '損益_原本'],
      ...allStructured.map((name) => ['artifact.updated', name]),
      ['source.materialized', '損益.xlsx'],
      ['job.completed', undefined],
    ]);
    // The answer came before the end of the job, so it names the job, whose end is published.
    expect(answer.job_id).toBe(job.job_id);
    expect(events.at(-1)?.data).toEqual({ job_id: job.job_id, kind: 'ingest', status: 'succeeded' });
  });

  it('without it publishes the end of the job only where the request was answered before', async () => {
    const readEnds = async (workbookId: string) =>
      (await world.readEvents(workbookId)).filter(({ type }) => type === 'job.completed').map(({ data }) => data.job_id);
    const before = await world.newWorkbook();
    await world.upload('一.csv', 'a,b\n1,2\n', { workbookId: before, fields: { structuring: 'skip' } });
    expect(await readEnds(before)).toEqual([]);
    const workbookId = await world.newWorkbook();
    await world.stopWorker();
    const sent = world.upload('二.csv', 'a,b\n3,4\n', { workbookId, fields: { structuring: 'skip' } });
    const jobId = await waitForRegistered(workbookId);
    // As the request itself does when its patience has ended.
    expect(await awaitOrAnnounce(world.api.services, jobId, { patienceMs: 10 })).toMatchObject({ status: 'pending' });
    await world.startWorker();
    await sent;
    expect(await readEnds(workbookId)).toEqual([jobId]);
  });

  it('leaves a raw table that something was derived from', async () => {
    const credits = await world.readCredits();
    const { workbookId, job } = await defer('在庫.xlsx', await makeNewFile(), async (id) => {
      await makeTable(world.owner.client, id, '派生', [{ name: 'a' }]);
      await world.api.sql.query(
        `INSERT INTO table_inputs (table_id, input_id, kind) SELECT d.id, r.id, 'transform' FROM tables d, tables r
         WHERE d.workbook_id = $1 AND d.name = '派生' AND r.workbook_id = $1 AND r.name = '在庫'`,
        [id],
      );
    });
    expect(job).toMatchObject({ status: 'succeeded', result: { structuring: 'raw_fallback', credits_charged: 0 } });
    expect((job.result as unknown as UploadAnswer).structuring_reason).toMatch(/^failed:something was derived from a raw table/);
    expect(await world.listNames('active', workbookId)).toEqual(['在庫', '派生']);
    expect(await world.listNames('archived', workbookId)).toEqual([]);
    expect(await world.readCredits()).toEqual(credits);
  });

  it('leaves a raw table that was edited', async () => {
    const { workbookId, job } = await defer('在庫.xlsx', await makeNewFile(), async (id) => {
      await editRows(world.owner.client, id, '在庫', [{ __svc_row_id: 2, C: '1000' }], 1);
    });
    expect((job.result as unknown as UploadAnswer).structuring_reason).toMatch(/^failed:a raw table was edited/);
    expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
    expect((await world.readCells('在庫', workbookId))[1]).toMatchObject({ C: '1000' });
    expect(await world.getSource('在庫.xlsx', workbookId)).toMatchObject({ structuring: 'raw_fallback', artifacts: ['在庫'] });
  });
});

describe('uploadSource: async=true', () => {
  it('answers 202 with a job whose result is the synchronous body', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeIncomeStatement(401);
    const response = await world.send('損益.xlsx', bytes, { workbookId, fields: { async: 'true' } });
    expect(response.status).toBe(202);
    const { job_id: jobId } = (await response.json()) as { job_id: string };
    expect(response.headers.get('location')).toBe(`/api/v1/jobs/${jobId}`);
    const job = await world.waitForJob(jobId);
    expect(job).toMatchObject({ kind: 'ingest', status: 'succeeded', workbook_id: workbookId, progress: { stage: 'done' } });
    const other = await world.newWorkbook();
    const synchronous = await world.upload('損益.xlsx', await makeIncomeStatement(402), { workbookId: other });
    expect(blur(job.result)).toEqual(blur(synchronous));
    expect(job.result).toMatchObject({ source: { id: (await world.getSource('損益.xlsx', workbookId)).id } });
  });

  it('tells of it in the order of what was done', async () => {
    const workbookId = await world.newWorkbook();
    const response = await world.send('損益.xlsx', await makeIncomeStatement(403), { workbookId, fields: { async: 'true' } });
    const { job_id: jobId } = (await response.json()) as { job_id: string };
    await world.waitForJob(jobId);
    const events = await world.readEvents(workbookId);
    expect(events.map(({ type, data }) => [type, data.name ?? data.job_id])).toEqual([
      ['artifact.updated', '損益'],
      ['artifact.updated', '損益_原本'],
      ...allStructured.map((name) => ['artifact.updated', name]),
      ['source.materialized', '損益.xlsx'],
      ['job.completed', jobId],
    ]);
    expect(events.at(-1)?.data).toEqual({ job_id: jobId, kind: 'ingest', status: 'succeeded' });
    const { rows } = await world.api.sql.query<{ times: string }>(
      'SELECT count(DISTINCT created_at) AS times FROM outbox WHERE scope = $1 AND seq > 1',
      [workbookId],
    );
    // All but the landing of the raw table come from one transaction.
    expect(rows).toEqual([{ times: '1' }]);
  });

  it('shows how far it is', async () => {
    const workbookId = await world.newWorkbook();
    await world.stopWorker();
    const { job_id: jobId } = (await (
      await world.send('在庫.xlsx', await makeNewFile(), { workbookId, fields: { async: 'true' } })
    ).json()) as { job_id: string };
    expect(await world.getJob(jobId)).toMatchObject({ status: 'pending', finished_at: null });
    const reading = await holdDraft(world.api.sql, jobId, 'raw');
    const structuring = await holdDraft(world.api.sql, jobId, 'tables');
    await world.startWorker();
    await waitForStage(jobId, 'read');
    // All bytes of the sheets are read: the raw copy is about to be stored.
    await expect.poll(async () => (await world.getJob(jobId)).progress?.total).toBeGreaterThan(500);
    await expect.poll(async () => isWhole(await world.getJob(jobId))).toBe(true);
    expect(await world.listNames('active', workbookId)).toEqual([]);
    await reading.letGo();
    await waitForStage(jobId, 'structure');
    await expect.poll(async () => (await world.getJob(jobId)).progress).toMatchObject({ done: 4, total: 4 });
    expect(await world.listNames('active', workbookId)).toEqual(['在庫']);
    const promoting = await holdTables(world.api.sql, workbookId);
    await structuring.letGo();
    await waitForStage(jobId, 'promote');
    expect((await world.getJob(jobId)).result ?? null).toBeNull();
    await promoting.letGo();
    expect(await world.waitForJob(jobId)).toMatchObject({ status: 'succeeded', progress: { stage: 'done', done: 1, total: 1 } });
  });

  it.each([
    ['csv', '行.csv', `a,b\n${'1,2\n'.repeat(500)}`, 2004],
    ['xlsx', '行.xlsx', null, null],
  ])('ends with all of a %s done', async (_, name, text, bytes) => {
    const workbookId = await world.newWorkbook();
    const fields = { async: 'true', structuring: 'skip' };
    const sent = await world.send(name, text ?? (await makeNewFile(100)), { workbookId, fields });
    const job = await world.waitForJob(((await sent.json()) as { job_id: string }).job_id);
    expect(job).toMatchObject({ status: 'succeeded', progress: { stage: 'done' } });
    expect(isWhole(job)).toBe(true);
    if (bytes === null) expect(job.progress?.total).toBeGreaterThan(5000);
    else expect(job.progress?.total).toBe(bytes);
  });

  it('goes with mode auto only', async () => {
    const response = await world.send('在庫.xlsx', await makeNewFile(), { fields: { async: 'true', mode: 'staged' } });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ pointer: '/async' }] });
  });

  it('says why it failed', async () => {
    const workbookId = await world.newWorkbook();
    const response = await world.send('空.xlsx', await makeXlsx({ S: [] }), { workbookId, fields: { async: 'true' } });
    const { job_id: jobId } = (await response.json()) as { job_id: string };
    expect(await world.waitForJob(jobId)).toMatchObject({ status: 'failed', error: 'No sheet of the file has a cell with content.' });
    expect((await world.readEvents(workbookId)).map(({ type, data }) => [type, data.status])).toEqual([['job.completed', 'failed']]);
    const path = { workbook_id: workbookId };
    const { sources } = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources', { params: { path } }));
    expect(sources).toEqual([]);
  });
});

describe('listJobs of an upload', () => {
  it('are seen by those who may see their workbook, within reach', async () => {
    const [here, there] = [await world.newWorkbook(), await world.newWorkbook()];
    const begin = async (workbookId: string) => {
      const response = await world.send('在庫.xlsx', await makeNewFile(), { workbookId, fields: { async: 'true' } });
      const { job_id: jobId } = (await response.json()) as { job_id: string };
      await world.waitForJob(jobId);
      return jobId;
    };
    const [first, second] = [await begin(here), await begin(there)];
    const all = ok(await world.owner.client.GET('/api/v1/jobs')).jobs.map(({ job_id: id }) => id);
    expect(all.slice(0, 2)).toEqual([second, first]);

    const pinned = world.api.as((await mintToken(world.owner.client, { resource: `workbook:${here}`, scopes: ['workbooks:read'] })).text);
    expect(ok(await pinned.GET('/api/v1/jobs')).jobs.map(({ job_id: id }) => id)).toEqual([first]);
    expect(ok(await pinned.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: first } } })).result).toMatchObject({
      structuring: 'structured',
    });
    refused(await pinned.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: second } } }), 403, 'outside-reach');
    refused(await pinned.POST('/api/v1/jobs/{job_id}/cancel', { params: { path: { job_id: first } } }), 403, 'missing-scope');

    const stranger = await world.api.signUp();
    expect(ok(await stranger.client.GET('/api/v1/jobs')).jobs).toEqual([]);
    refused(await stranger.client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: first } } }), 404, 'not-found');
    refused(await stranger.client.POST('/api/v1/jobs/{job_id}/cancel', { params: { path: { job_id: first } } }), 404, 'not-found');
  });
});

describe('uploadSource: SVC_STRUCTURING=off', () => {
  it('lands sheets as they are and says so', async () => {
    const off = await openWorld({ env: { SVC_STRUCTURING: 'off' } });
    try {
      const before = await off.readCredits();
      for (const structuring of ['auto', 'defer']) {
        const workbookId = await off.newWorkbook();
        const answer = await off.upload('損益.xlsx', await makeIncomeStatement(), { workbookId, fields: { structuring } });
        expect(answer).toMatchObject({ structuring: 'off', credits_charged: 0 });
        expect(namesOf(answer)).toEqual(['損益']);
      }
      expect(await off.readCredits()).toEqual(before);
    } finally {
      await off.stop();
    }
  });
});

async function waitForRegistered(workbookId: string): Promise<string> {
  for (;;) {
    const { rows } = await world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE workbook_id = $1', [workbookId]);
    if (rows[0]) return rows[0].id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function waitForStage(jobId: string, stage: string): Promise<void> {
  await expect.poll(async () => (await world.getJob(jobId)).progress?.stage).toBe(stage);
}

/** What differs from one ingest of the same kind to the next. */
function blur(result: unknown): unknown {
  return JSON.parse(
    JSON.stringify(result, (key, value: unknown) =>
      /^(id|workbook_id|sha256|size|created_at|updated_at|at)$/.test(key) ? typeof value : value,
    ),
  );
}
