import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';
import { openTransaction } from './hold.ts';
import { makeBook } from './world.ts';

const store = await useStoreWithWorker();
const { sql } = store.api;
const count = { name: 'n', type: 'BIGINT' };

async function waitForWaiting(wanted: number): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await sql.query(waiting)).rowCount, { timeout: 60_000 }).toBe(wanted);
}

/** Two changes that come one after the other to a row that is held, and are let go together. */
async function interleave<A, B>(held: string, values: string[], first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  const hold = await openTransaction(sql, held, values);
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
  const { rows } = await sql.query<{ workflow_id: string }>(
    "SELECT workflow_id FROM jobs WHERE workbook_id = $1 AND kind = 'transform' ORDER BY id DESC LIMIT 1",
    [workbookId],
  );
  const { client } = await store.services.temporal();
  const { events } = await client.workflow.getHandle(rows[0]?.workflow_id as string).fetchHistory();
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
