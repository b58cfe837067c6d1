import { describe, expect, it } from 'vitest';
import { purchaseCredits } from '../../activities/credits/purchaseCredits.ts';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { settleCredits } from '../../activities/credits/settleCredits.ts';
import { commit, type Tx } from '../../store/pg/commit.ts';
import { makeId } from '../../store/services.ts';
import { ok } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { holdDraft } from './hold.ts';
import { makeIncomeStatement, makeNewFile, makeXlsx, namesOf, scattered, type UploadAnswer, useWorld } from './world.ts';

const world = await useWorld();
const accountId = ok(await world.owner.client.GET('/api/v1/me')).account_id as string;

const write = <T>(change: (tx: Tx) => Promise<T>): Promise<T> =>
  commit(world.api.services, { name: 'test', userId: null, credential: 'none', requestId: 'req_test' }, change, async (result) => result);
const listJobs = async (workbookId: string) =>
  (await world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE workbook_id = $1 ORDER BY id', [workbookId])).rows.map(
    ({ id }) => id,
  );
const listSources = async (workbookId: string) =>
  ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources', { params: { path: { workbook_id: workbookId } } })).sources;
const spent = async () => (await world.readCredits()).used;

describe('uploadSource: identical bytes in one workbook', () => {
  it('answer 200 with the source that has them, whatever their name', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const first = await world.send('在庫.xlsx', bytes, { workbookId });
    expect(first.status).toBe(201);
    const { credits_charged: charged, ...body } = (await first.json()) as UploadAnswer;
    expect(charged).toBe(1);
    const before = await spent();
    for (const name of ['在庫.xlsx', '写し.xlsx']) {
      const again = await world.send(name, bytes, { workbookId });
      expect(again.status).toBe(200);
      expect(await again.json()).toEqual({ ...body, credits_charged: 0 });
    }
    const lessers: Record<string, string>[] = [{ structuring: 'skip' }, { mode: 'staged' }, { structuring: 'defer' }];
    for (const fields of lessers) {
      const lesser = await world.send('在庫.xlsx', bytes, { workbookId, fields });
      expect([lesser.status, ((await lesser.json()) as UploadAnswer).structuring]).toEqual([200, 'structured']);
    }
    expect(await listSources(workbookId)).toHaveLength(1);
    expect(await listJobs(workbookId)).toHaveLength(1);
    expect(await spent()).toBe(before);
  });

  it('asked for with async answer the same', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    await world.upload('在庫.xlsx', bytes, { workbookId });
    const again = await world.send('在庫.xlsx', bytes, { workbookId, fields: { async: 'true' } });
    expect(again.status).toBe(200);
  });

  it('upgrade a staged source', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const staged = await world.upload('在庫.xlsx', bytes, { workbookId, fields: { mode: 'staged' } });
    expect(staged).toMatchObject({ structuring: 'off', artifacts: [], source: { status: 'registered', mode: 'staged' } });
    const upgraded = await world.send('在庫.xlsx', bytes, { workbookId });
    expect(upgraded.status).toBe(200);
    const answer = (await upgraded.json()) as UploadAnswer;
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 1, source: { id: staged.source.id, mode: 'auto' } });
    expect(namesOf(answer)).toEqual(['在庫']);
  });

  it('upgrade a source that was skipped: its raw table gives way', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    await world.upload('在庫.xlsx', bytes, { workbookId, fields: { structuring: 'skip' } });
    const answer = await world.upload('在庫.xlsx', bytes, { workbookId });
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    expect(namesOf(answer)).toEqual(['在庫']);
    expect(answer.artifacts[0]?.schema?.map(({ name }) => name)).toEqual(['品番', '品名', '数量']);
    expect(await world.listNames('archived', workbookId)).toEqual(['在庫_原本']);
  });

  it('upgrade a staged source to raw tables', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    await world.upload('在庫.xlsx', bytes, { workbookId, fields: { mode: 'staged' } });
    const answer = await world.upload('在庫.xlsx', bytes, { workbookId, fields: { structuring: 'skip' } });
    expect(answer).toMatchObject({ structuring: 'skipped', source: { mode: 'auto' } });
    expect(namesOf(answer)).toEqual(['在庫']);
  });

  it('join the ingest that is running', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const before = await spent();
    await world.stopWorker();
    const first = world.send('在庫.xlsx', bytes, { workbookId });
    await expect.poll(() => listJobs(workbookId)).toHaveLength(1);
    const second = world.send('写し.xlsx', bytes, { workbookId });
    const third = await world.send('在庫.xlsx', bytes, { workbookId, fields: { async: 'true' } });
    expect(third.status).toBe(202);
    expect(((await third.json()) as { job_id: string }).job_id).toBe((await listJobs(workbookId))[0]);
    const staged = await world.send('在庫.xlsx', bytes, { workbookId, fields: { mode: 'staged' } });
    expect([staged.status, ((await staged.json()) as UploadAnswer).source.status]).toEqual([200, 'ingesting']);
    await world.startWorker();
    const [a, b] = [(await (await first).json()) as UploadAnswer, (await (await second).json()) as UploadAnswer];
    expect(a).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    expect(b).toEqual({ ...a, credits_charged: 0 });
    expect(await listJobs(workbookId)).toHaveLength(1);
    expect(await spent()).toBe(before + 1);
    // Somebody asked for a job: its end is told.
    expect((await world.readEvents(workbookId)).at(-1)?.type).toBe('job.completed');
  });

  it('asked for in full while they are skipped are structured', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    await world.stopWorker();
    const skipped = world.upload('在庫.xlsx', bytes, { workbookId, fields: { structuring: 'skip' } });
    await expect.poll(() => listJobs(workbookId)).toHaveLength(1);
    const full = world.upload('在庫.xlsx', bytes, { workbookId });
    const wanted = "SELECT 1 FROM jobs WHERE workbook_id = $1 AND input ->> 'structuring' <> 'skip'";
    await expect.poll(async () => (await world.api.sql.query(wanted, [workbookId])).rowCount).toBe(1);
    await world.startWorker();
    expect((await full).structuring).toBe('structured');
    expect((await skipped).structuring).toBe('structured');
    expect(await listJobs(workbookId)).toHaveLength(1);
  });

  it('sent twenty times at once make one source', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const before = await spent();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => world.upload(`在庫${n}.xlsx`, bytes, { workbookId })));
    expect(new Set(answers.map(({ source }) => source.id)).size).toBe(1);
    expect(await listSources(workbookId)).toHaveLength(1);
    expect(await world.listNames('active', workbookId)).toHaveLength(1);
    expect(await spent()).toBe(before + 1);
  });
});

describe('uploadSource: identical bytes in another workbook of the account', () => {
  it('are structured from the cache, free of charge', async () => {
    const bytes = await makeIncomeStatement(777);
    const first = await world.upload('損益.xlsx', bytes, { workbookId: await world.newWorkbook() });
    const before = await spent();
    const workbookId = await world.newWorkbook();
    const second = await world.send('損益.xlsx', bytes, { workbookId });
    expect(second.status).toBe(201);
    const answer = (await second.json()) as UploadAnswer;
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 0 });
    expect(answer.source.id).not.toBe(first.source.id);
    expect(namesOf(answer)).toEqual(namesOf(first));
    expect(await world.readCells('損益計算書_階層2', workbookId)).toHaveLength(4);
    expect(await spent()).toBe(before);
  });

  it('take names of their own file', async () => {
    const bytes = await makeNewFile();
    await world.upload('在庫.xlsx', bytes, { workbookId: await world.newWorkbook() });
    const answer = await world.upload('倉庫.xlsx', bytes, { workbookId: await world.newWorkbook() });
    expect([namesOf(answer), answer.credits_charged]).toEqual([['倉庫'], 0]);
  });

  it('of another account are charged there', async () => {
    const bytes = await makeNewFile();
    await world.upload('在庫.xlsx', bytes, { workbookId: await world.newWorkbook() });
    const other = await world.api.signUp('別の人');
    const workbookId = await makeWorkbook(other.client, '別');
    expect(await world.upload('在庫.xlsx', bytes, { workbookId, token: other.session })).toMatchObject({
      structuring: 'structured',
      credits_charged: 1,
    });
  });

  it('that are being structured fall back to raw tables, and can be asked for again', async () => {
    const bytes = await makeNewFile();
    const [here, there] = [await world.newWorkbook(), await world.newWorkbook()];
    await world.stopWorker();
    const first = world.upload('在庫.xlsx', bytes, { workbookId: here });
    await expect.poll(() => listJobs(here)).toHaveLength(1);
    const hold = await holdDraft(world.api.sql, (await listJobs(here))[0] as string, 'tables');
    await world.startWorker();
    await expect.poll(() => world.listNames('active', here)).toEqual(['在庫']);
    const second = await world.upload('在庫.xlsx', bytes, { workbookId: there });
    expect(second).toMatchObject({ structuring: 'raw_fallback', structuring_reason: 'building', credits_charged: 0 });
    expect(namesOf(second)).toEqual(['在庫']);
    await hold.letGo();
    expect(await first).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    const again = await world.upload('在庫.xlsx', bytes, { workbookId: there });
    expect(again).toMatchObject({
      structuring: 'structured',
      credits_charged: 0,
      source: { id: second.source.id, structuring_reason: null },
    });
    expect(await world.listNames('archived', there)).toEqual(['在庫_原本']);
  });

  it('whose structuring was left by a job that is over are taken over', async () => {
    const bytes = await makeNewFile();
    const sha256 = Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex');
    await world.api.sql.query(
      "INSERT INTO structurings (account_id, content_hash, state, job_id, filename, updated_at) VALUES ($1, $2, 'building', $3, 'x.xlsx', now())",
      [accountId, sha256, makeId('job')],
    );
    const answer = await world.upload('在庫.xlsx', bytes, { workbookId: await world.newWorkbook() });
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 1 });
  });
});

describe('credits of an upload', () => {
  it('are charged with the promotion, once, and written down as usage', async () => {
    const workbookId = await world.newWorkbook();
    const before = await world.readCredits();
    // 4 columns of 5,250 rows and a header: 21,004 cells, every started twenty thousand one credit.
    const rows = [['a', 'b', 'c', 'd'], ...Array.from({ length: 5250 }, (_, n) => [`k${n}`, n, n * 2, 'x'])];
    const answer = await world.upload('大.xlsx', await makeXlsx({ S: rows }), { workbookId });
    expect(answer.credits_charged).toBe(2);
    expect(await world.readCredits()).toEqual({ ...before, used: before.used + 2, remaining: before.remaining - 2 });
    const usage = await world.api.sql.query("SELECT amount::int FROM usage_entries WHERE scope = $1 AND kind = 'credits'", [workbookId]);
    expect(usage.rows).toEqual([{ amount: 2 }]);
    const audit = await world.api.sql.query<{ action: string }>('SELECT action FROM audit_entries WHERE scope = $1 ORDER BY seq', [
      workbookId,
    ]);
    expect(audit.rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['source.register', 'table.create', 'table.archive', 'source.ingest']),
    );
  });

  it('are not charged for what is not understood, refused or skipped', async () => {
    const workbookId = await world.newWorkbook();
    const before = await world.readCredits();
    await world.upload('乱.xlsx', await makeXlsx({ S: scattered(61) }), { workbookId });
    expect((await world.send('空.xlsx', await makeXlsx({ S: [] }), { workbookId })).status).toBe(422);
    await world.upload('在庫.xlsx', await makeNewFile(), { workbookId, fields: { structuring: 'skip' } });
    expect(await world.readCredits()).toEqual(before);
  });

  it('that are not there leave the raw tables', async () => {
    const { remaining } = await world.readCredits();
    const jobId = makeId('job');
    await write(async (tx) => {
      expect(await reserveCredits(tx, { accountId, workbookId: null, jobId, amount: remaining })).toBe('reserved');
      await settleCredits(tx, jobId, accountId);
    });
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const answer = await world.upload('在庫.xlsx', bytes, { workbookId });
    expect(answer).toMatchObject({ structuring: 'raw_fallback', structuring_reason: 'no_credits', credits_charged: 0 });
    expect(answer.notice).toContain('SVC_CREDITS=unlimited');
    // The job and the answer say it, in their bodies and as a header.
    const again = await world.send('在庫.xlsx', bytes, { workbookId });
    expect(decodeURIComponent(again.headers.get('x-svc-notice') ?? '')).toBe(answer.notice);
    const [fallenBack = ''] = await listJobs(workbookId);
    const job = await world.api.fetch(`/api/v1/jobs/${fallenBack}`, { token: world.owner.session });
    expect(job.headers.get('x-svc-notice')).toBe(answer.notice);
    expect(await job.json()).toMatchObject({ result: { structuring: 'raw_fallback', notice: answer.notice } });
    expect(namesOf(answer)).toEqual(['在庫']);
    // A deferred ingest says so at once, and skip needs none.
    const deferred = await world.upload('別.xlsx', await makeNewFile(), { workbookId, fields: { structuring: 'defer' } });
    expect(deferred).toMatchObject({ structuring: 'raw_fallback', structuring_reason: 'no_credits' });
    expect(await world.upload('生.xlsx', await makeNewFile(), { workbookId, fields: { structuring: 'skip' } })).toMatchObject({
      structuring: 'skipped',
    });

    await write((tx) => purchaseCredits(tx, { accountId, ref: makeId('evt'), amount: 5 }));
    expect(await world.upload('在庫.xlsx', bytes, { workbookId })).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    expect((await world.readCredits()).remaining).toBe(4);
  });
});
