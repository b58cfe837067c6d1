import { expect, it } from 'vitest';
import { requireWorkbook } from '../../activities/access.ts';
import { authenticate } from '../../activities/identity/authenticate.ts';
import { ok, refused } from '../setup/api.ts';
import { makeLargeTable } from '../setup/largeTable.ts';
import { type DrivenTable, driveTable, useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();

/** Entries of the log that every reader would have to read. */
async function countLogEntries({ path }: DrivenTable): Promise<number> {
  const { rows } = await api.sql.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM row_log WHERE table_id = (SELECT id FROM tables WHERE workbook_id = $1 AND name = $2)`,
    [path.workbook_id, path.name],
  );
  return rows[0]?.n ?? 0;
}

const columns = [{ name: 'text' }, { name: 'n', type: 'BIGINT' }];
const row = (n: number, length: number) => ({ text: 'x'.repeat(length), n });

it('edits of very long rows are files from the first on, and are undone like others', async () => {
  const table = await world.makeTable('long', columns);
  ok(await table.upsert([row(1, 100_000)]));
  ok(await table.upsert([row(2, 100_000), row(3, 10)]));
  ok(await table.upsert([{ __svc_row_id: 1, n: 10 }]));
  const gone = ok(await table.remove([1, 3]));
  expect(await countLogEntries(table)).toBe(0);
  ok(await table.upsert([{ __svc_row_id: 2, text: 'short' }]));
  ok(await table.upsert([row(4, 1_000)]));
  expect(await countLogEntries(table)).toBe(1);
  ok(await world.undo(gone.op_id));
  const { rows } = await table.read();
  expect(rows.map(({ n, text }) => [n, (text as string).length])).toEqual([
    [10, 100_000],
    [2, 5],
    [3, 10],
    [4, 1_000],
  ]);
  expect(ok(await table.history(1)).changes.map(({ kind }) => kind)).toEqual(['insert', 'delete', 'update', 'insert']);
});

it('pages of long rows are read in parts, and refused in words where they would be too long', async () => {
  const workbook = await requireWorkbook(api.services, await authenticate(api.services, world.owner.session), world.workbookId, 'editor');
  const computed = [
    { name: 'text', type: 'VARCHAR', sql: "repeat('x', 1000000)" },
    { name: 'n', type: 'BIGINT', sql: 'i - 1' },
  ];
  await makeLargeTable(api.services, workbook, { name: 'heavy', columns: computed, rows: 270, rowsPerFile: 30 });
  const table = driveTable(world.owner, world.workbookId, 'heavy');
  const page = await table.read({ limit: 100 });
  expect(page.rows.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  const last = await table.read({ limit: 100, sort: ['n:desc'] });
  expect(last.rows.map(({ n, text }) => [n, (text as string).length])).toEqual(Array.from({ length: 100 }, (_, i) => [269 - i, 1_000_000]));
  expect((await table.read({ limit: 1_000, columns: ['n'] })).rows.length).toBe(270);
  for (const query of [{ limit: 270 }, { limit: 270, sort: ['n'] }, { limit: 270, filter: 'true' }]) {
    const answer = await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
      params: { path: table.path, query },
    });
    expect(refused(answer, 400, 'query-too-large').suggested_fix).toBe('Ask for fewer rows or columns at a time.');
  }
});
