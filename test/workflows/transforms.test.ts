import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { timeouts } from '../../store/pg/database.ts';
import { ok } from '../setup/api.ts';
import { holdRuns, openTransaction } from '../transforms/hold.ts';
import { makeBook } from '../transforms/world.ts';
import { keepHistory, replayHistory } from './replay.ts';
import { useStoreWithWorker } from './storeWithWorker.ts';

const store = await useStoreWithWorker();
// Runs that are held wait for long, on a busy machine.
Object.assign(timeouts, { lock: '60s', transaction: '120s' });

async function newestRun(workbookId: string, kind: string) {
  const { rows } = await store.api.sql.query<{ workflow_id: string }>(
    'SELECT workflow_id FROM jobs WHERE workbook_id = $1 AND kind = $2 ORDER BY id DESC LIMIT 1',
    [workbookId, kind],
  );
  const { client } = await store.services.temporal();
  return client.workflow.getHandle(rows[0]?.workflow_id as string);
}

/** a → b, a → c; b and c → d. */
async function makeDiamond() {
  const book = await makeBook(store);
  await book.table('a', [{ name: 'n', type: 'BIGINT' }], [{ n: 1 }]);
  for (const name of ['b', 'c']) await book.create({ name, template: 'SELECT n FROM {{ a }}', args: { a: 'a' } });
  await book.create({ name: 'd', template: 'SELECT b.n + c.n AS n FROM {{ b }} b, {{ c }} c', args: { b: 'b', c: 'c' } });
  const edit = (n: number) => book.edit('a', [{ __svc_row_id: 1, n }]);
  const runs = async () =>
    (await store.api.sql.query("SELECT 1 FROM ops WHERE scope = $1 AND kind = 'transform.run'", [book.id])).rowCount ?? 0;
  return { ...book, change: edit, runs };
}

describe('transform and recompute', () => {
  it('end with their work done, or refused', async () => {
    const book = await makeDiamond();
    await book.change(2);
    await book.run('b');
    const ran = await newestRun(book.id, 'transform');
    expect(await ran.result()).toBe('ran');
    await keepHistory('transform', ran);
    await book.change(3);
    await book.run('d');
    const late = await newestRun(book.id, 'transform');
    expect(await late.result()).toBe('ran');
    await keepHistory('transformOfStale', late);
    await book.change(4);
    await book.recompute();
    const recomputed = await newestRun(book.id, 'recompute');
    expect(await recomputed.result()).toBe('recomputed');
    await keepHistory('recompute', recomputed);
    await book.tryCreate({ name: 'e', template: 'SELECT nothing FROM {{ a }}', args: { a: 'a' } });
    const refused = await newestRun(book.id, 'transform');
    expect(await refused.result()).toBe('refused');
    await keepHistory('transformRefused', refused);
  });

  it('end as cancelled, and keep what was run', async () => {
    const book = await makeDiamond();
    await book.change(2);
    const held = await holdRuns(store.api.sql, book.id, () => book.tryRecompute());
    await held.waitForRuns(2);
    const cancelled = store.owner.client.POST('/api/v1/jobs/{job_id}/cancel', { params: { path: { job_id: held.jobId } } });
    const handle = await newestRun(book.id, 'recompute');
    // Asked for, before the runs go on.
    await expect
      .poll(async () => (await handle.fetchHistory()).events?.some(({ workflowExecutionCancelRequestedEventAttributes: asked }) => asked))
      .toBe(true);
    await held.letGo();
    expect(ok(await cancelled)).toMatchObject({ status: 'failed', error: 'cancelled' });
    expect(await handle.result()).toBe('cancelled');
    await keepHistory('recomputeCancelled', handle);
    await book.recompute();
    expect(await book.read('d')).toMatchObject([{ n: 4 }]);
  });

  it('end with what a restore has left stale', async () => {
    const book = await makeDiamond();
    await book.change(2);
    const params = { path: { workbook_id: book.id } };
    const body = { summary: 's', event_type: 'manual' as const };
    const { id } = ok(await store.owner.client.POST('/api/v1/workbooks/{workbook_id}/snapshots', { params, body }));
    await book.recompute();
    await book.change(3);
    const path = { ...params.path, snapshot_id: id };
    ok(await store.owner.client.POST('/api/v1/workbooks/{workbook_id}/snapshots/{snapshot_id}/restore', { params: { path } }));
    const restored = await newestRun(book.id, 'restore');
    expect(await restored.result()).toBe('recomputed');
    await keepHistory('restore', restored);
    expect(await book.read('d')).toMatchObject([{ n: 4 }]);
  });

  it.each(['transform', 'transformOfStale', 'transformRefused', 'recompute', 'recomputeCancelled', 'recomputeChain', 'restore'])(
    '%s is replayed by the workflow as it is now',
    (name) => replayHistory(name),
  );
});

describe('a recompute', () => {
  it('runs what does not depend on each other at the same time, and the rest behind it', async () => {
    const book = await makeDiamond();
    await book.change(2);
    const before = await book.runs();
    const held = await holdRuns(store.api.sql, book.id, book.recompute);
    await held.waitForRuns(2);
    expect(await book.runs()).toBe(before);
    await held.letGo();
    const { recomputed } = await held.answer;
    expect(recomputed.map(({ name }) => name).toSorted()).toEqual(['b', 'c', 'd']);
    expect(recomputed.at(-1)?.name).toBe('d');
    expect(await book.runs()).toBe(before + 3);
  });

  it('during which an input is edited loses nothing, and leaves stale what uses the edit', async () => {
    const book = await makeDiamond();
    await book.change(2);
    const held = await holdRuns(store.api.sql, book.id, book.recompute);
    await held.waitForRuns(2);
    // Both have read 2.
    expect((await book.change(3)).stale).toEqual([]);
    await held.letGo();
    const { recomputed, failed } = await held.answer;
    // What is made from them waits for the next one.
    expect([recomputed.map(({ name }) => name).toSorted(), failed]).toEqual([['b', 'c'], []]);
    expect(await book.read('b')).toMatchObject([{ n: 2 }]);
    expect(await book.stale()).toEqual(['b', 'c', 'd']);
    expect((await book.getTable('b')).freshness).toMatchObject({ stale: true, inputs: ['a'] });
    // They were stale all the time.
    expect((await book.events('artifact.stale')).map(({ name }) => name)).toEqual(['b', 'c', 'd']);
    await book.recompute();
    expect(await book.stale()).toEqual([]);
    expect(await book.read('d')).toMatchObject([{ n: 6 }]);
  });

  it('and runs under edits that do not stop lose none of them', async () => {
    const book = await makeDiamond();
    let isOver = false;
    const editing = (async () => {
      let n = 1;
      while (!isOver) {
        n += 1;
        await book.change(n);
      }
      return n;
    })();
    for (const name of ['b', 'd', 'c']) await Promise.all([book.run(name), book.recompute()]);
    isOver = true;
    const last = await editing;
    await book.recompute();
    expect(await book.stale()).toEqual([]);
    expect(await book.read('d')).toMatchObject([{ n: 2 * last }]);
  });

  it('is joined by a second request', async () => {
    const book = await makeDiamond();
    await book.change(2);
    const before = await book.runs();
    const held = await holdRuns(store.api.sql, book.id, book.recompute);
    const second = book.recompute();
    await held.waitForRuns(2);
    await held.letGo();
    const answer = await held.answer;
    expect(answer.recomputed.length).toBe(3);
    expect(await second).toEqual(answer);
    expect(await book.runs()).toBe(before + 3);
    expect((await store.api.sql.query("SELECT 1 FROM jobs WHERE workbook_id = $1 AND kind = 'recompute'", [book.id])).rowCount).toBe(1);
  });

  it('runs what follows one after the other in one activity', async () => {
    const book = await makeBook(store);
    await book.table('a', [{ name: 'n', type: 'BIGINT' }], [{ n: 1 }]);
    for (const [name, from] of ['ab', 'bc', 'cd'].map((pair) => [pair[1] as string, pair[0] as string]) as [string, string][])
      await book.create({ name, template: 'SELECT n + 1 AS n FROM {{ t }}', args: { t: from } });
    await book.create({ name: 'e', template: 'SELECT n FROM {{ c }}', args: { c: 'c' } });
    await book.edit('a', [{ __svc_row_id: 1, n: 5 }]);
    const { recomputed, failed } = await book.recompute();
    expect([recomputed.map(({ name }) => name).toSorted(), failed]).toEqual([['b', 'c', 'd', 'e'], []]);
    expect([await book.read('d'), await book.read('e')]).toMatchObject([[{ n: 8 }], [{ n: 7 }]]);
    const handle = await newestRun(book.id, 'recompute');
    const { events } = await handle.fetchHistory();
    const begun = events?.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? []);
    // b and c in the first one; d and e, which do not depend on each other, in one each.
    expect(begun).toEqual(['beginRuns', 'rerunTransform', 'rerunTransform', 'rerunTransform', 'finishTransformJob']);
    await keepHistory('recomputeChain', handle);
  });

  it('that takes too long is answered with its job', async () => {
    const book = await makeDiamond();
    await book.change(2);
    const { taskQueue } = store.api.config.temporal;
    const impatient = await store.api.another({ SVC_ANSWER_WAIT_MS: '1', TEMPORAL_TASK_QUEUE: taskQueue });
    const held = await holdRuns(store.api.sql, book.id, () => book.tryRecompute(impatient.as(store.owner.session)));
    const { response, data } = await held.answer;
    expect([response.status, response.headers.get('location'), data]).toEqual([202, `/api/v1/jobs/${held.jobId}`, { job_id: held.jobId }]);
    await held.letGo();
    const params = { path: { job_id: held.jobId }, query: { wait: 5 } };
    const getJob = async () => ok(await store.owner.client.GET('/api/v1/jobs/{job_id}', { params }));
    await expect.poll(async () => (await getJob()).status).toBe('succeeded');
    expect(await getJob()).toMatchObject({
      kind: 'recompute',
      status: 'succeeded',
      result: { recomputed: { length: 3 }, failed: [], skipped_reports: [] },
    });
    expect((await book.events('job.completed')).length).toBe(1);
    await impatient.stop();
  });
});

const count = { name: 'n', type: 'BIGINT' };

async function waitForWaiting(wanted: number): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await store.api.sql.query(waiting)).rowCount).toBe(wanted);
}

/** Two changes that come one after the other to a row that is held, and are let go together. */
async function interleave<A, B>(held: string, values: string[], first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  const hold = await openTransaction(store.api.sql, held, values);
  const begun = first();
  begun.catch(() => {});
  await waitForWaiting(1);
  const behind = second();
  behind.catch(() => {});
  await waitForWaiting(2);
  await hold.close();
  return Promise.all([begun, behind]);
}

/** Whether the newest run of a workbook went through at once. One that was given up as a deadlock is tried again. */
async function wentThrough(workbookId: string): Promise<boolean> {
  const run = await newestRun(workbookId, 'transform');
  // A job ends before its workflow, whose history tells of an activity once that has ended.
  await run.result().catch(() => {});
  const { events } = await run.fetchHistory();
  const attempts = events?.flatMap(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? []) ?? [];
  return attempts.length > 0 && attempts.every((attempt) => attempt === 1);
}

describe('a run', () => {
  it('and a file that changes several tables do not wait for each other', async () => {
    const book = await makeBook(store);
    for (const name of ['a', 'b']) await book.table(name, [count], [{ n: 1 }]);
    await book.create({ name: 'o', template: 'SELECT n FROM {{ a }}', args: { a: 'a' } });
    await book.create({ name: 'p', template: 'SELECT o.n + b.n AS n FROM {{ o }} o, {{ b }} b', args: { o: 'o', b: 'b' } });
    const file = await editExport(book.id, ['a', 'b']);
    const sync = async () => {
      const form = new FormData();
      form.append('file', new Blob([file]), 'book.xlsx');
      return (await send(`/api/v1/workbooks/${book.id}/sync`, form)).status;
    };
    // The file changes a, and waits with b still to come; the run, which reads b, waits behind it.
    const edge = `SELECT 1 FROM table_inputs i JOIN tables p ON p.id = i.table_id JOIN tables o ON o.id = i.input_id
      WHERE p.workbook_id = $1 AND p.name = 'p' AND o.name = 'o' FOR UPDATE OF i`;
    const [status, ran] = await interleave(edge, [book.id], sync, () => book.tryRun('p'));
    expect([status, ran.response.status, await wentThrough(book.id)]).toEqual([200, 200, true]);
    await book.recompute();
    expect(await book.read('p')).toMatchObject([{ n: 14 }]);
  });

  it('and a restore do not wait for each other', async () => {
    const book = await makeBook(store);
    await book.table('a', [count], [{ n: 1 }]);
    await book.create({ name: 'o', template: 'SELECT n FROM {{ a }}', args: { a: 'a' } });
    // Made after the output that reads it.
    await book.table('b', [count], [{ n: 2 }]);
    await book.create({ name: 'o', template: 'SELECT n FROM {{ b }}', args: { b: 'b' } });
    const path = { workbook_id: book.id };
    const body = { summary: 's', event_type: 'manual' as const };
    const { id } = ok(await store.owner.client.POST('/api/v1/workbooks/{workbook_id}/snapshots', { params: { path }, body }));
    await book.edit('b', [{ __svc_row_id: 1, n: 3 }]);
    const restore = () =>
      store.owner.client.POST('/api/v1/workbooks/{workbook_id}/snapshots/{snapshot_id}/restore', {
        params: { path: { ...path, snapshot_id: id } },
      });
    // The restore waits with b still to come; the run, which reads b, waits behind it.
    const output = "SELECT 1 FROM tables WHERE workbook_id = $1 AND name = 'o' FOR UPDATE";
    const [restored, ran] = await interleave(output, [book.id], restore, () => book.tryRun('o'));
    expect([restored.response.status, ran.response.status, await wentThrough(book.id)]).toEqual([200, 200, true]);
    await book.recompute();
    expect(await book.read('o')).toMatchObject([{ n: 2 }]);
  });
});

describe('a name', () => {
  it('that is given to things of two kinds at the same moment is given to one of them', async () => {
    const book = await makeBook(store);
    const path = { workbook_id: book.id };
    const { client } = store.owner;
    const makeTable = () =>
      client.POST('/api/v1/workbooks/{workbook_id}/tables', { params: { path }, body: { name: '名前', columns: [count] } });
    const putSheet = () =>
      client.PUT('/api/v1/workbooks/{workbook_id}/sheets/{name}', {
        params: { path: { ...path, name: '名前' } },
        body: { spec: { blocks: [{ kind: 'heading', text: 'x' }] } },
      });
    const names = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
    const [table, sheet] = await interleave(names, [`names ${book.id}`], makeTable, putSheet);
    expect([table.response.status, sheet.response.status]).toEqual([201, 409]);
  });
});

const send = (path: string, body: FormData | string) =>
  store.api.fetch(path, {
    method: 'POST',
    token: store.owner.session,
    ...(typeof body === 'string' ? { headers: { 'Content-Type': 'application/json' } } : {}),
    body,
  });

/** An export of these tables in which the first value of each is another. */
async function editExport(workbookId: string, tables: string[]): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await send(`/api/v1/workbooks/${workbookId}/export`, JSON.stringify({ tables, format: 'xlsx', record_branch: true }));
  const book = new ExcelJS.Workbook();
  await book.xlsx.load((await answer.arrayBuffer()) as never);
  for (const sheet of book.worksheets) sheet.getRow(2).getCell((sheet.getRow(1).values as unknown[]).indexOf('n')).value = 7;
  return new Uint8Array((await book.xlsx.writeBuffer()) as ArrayBuffer);
}
