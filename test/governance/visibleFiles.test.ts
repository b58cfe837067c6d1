import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readCacheCounts } from '../../store/cacheCounts.ts';
import { ok } from '../setup/api.ts';
import { hideColumns, setPolicy } from '../setup/governance.ts';
import { editRows, makeTable } from '../setup/tables.ts';
import { openTestStore } from '../tables/store.ts';

const store = await openTestStore();
afterAll(() => store.stop());
const { client } = store.owner;
const id = store.workbook.id;
const base = '/api/v1/workbooks/{workbook_id}' as const;

const types = {
  名前: 'VARCHAR',
  給与: 'VARCHAR',
  住所: 'VARCHAR',
  数: 'BIGINT',
  率: 'DECIMAL(9,3)',
  日: 'DATE',
  他: 'JSON',
  済: 'BOOLEAN',
};
const first = {
  名前: '佐藤',
  給与: 'secret salary',
  住所: 'secret place',
  数: '9007199254740993',
  率: '1.500',
  日: '2024-04-01',
  他: { a: [1] },
  済: true,
};
await makeTable(
  client,
  id,
  't',
  Object.entries(types).map(([name, type]) => ({ name, type })),
  [first, { 名前: '鈴木' }],
);
await hideColumns(client, id, 't', { 給与: 'deny', 住所: 'mask' });

/** Each is another query, so that none is answered from the kept result of one before. */
let asked = 0;
const query = async (sql: string) => {
  asked += 1;
  const body = { sql: `${sql} -- ${asked}` };
  return (ok(await client.POST(`${base}/query`, { params: { path: { workbook_id: id } }, body })) as unknown as { rows: unknown[] }).rows;
};
const filter = async (text: string) =>
  (
    ok(await client.GET(`${base}/tables/{name}/rows`, { params: { path: { workbook_id: id, name: 't' }, query: { filter: text } } })) as {
      rows: unknown[];
    }
  ).rows;
const hits = () => readCacheCounts().find(({ cache }) => cache === 'visible_files')?.hit ?? 0;

/** All files that were written for queries. */
async function readFiles(): Promise<string> {
  const root = join(store.services.config.dataDir, 'queries');
  const names = await readdir(root, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    names.filter((each) => each.isFile()).map((each) => readFile(join(each.parentPath, each.name), 'latin1').catch(() => '')),
  );
  return texts.join('\n');
}

describe('a governed table that is queried again', () => {
  it('is read from a copy without its hidden columns, with the same answers', async () => {
    const all = await query('SELECT * FROM t ORDER BY __svc_row_id');
    expect(all).toMatchObject([
      { 名前: '佐藤', 住所: null, 数: '9007199254740993', 率: '1.500', 日: '2024-04-01', 済: true },
      { 名前: '鈴木' },
    ]);
    const before = hits();
    // The second time it is written, and then read.
    await expect.poll(() => query('SELECT * FROM t ORDER BY __svc_row_id').then(() => hits() > before)).toBe(true);
    expect(await query('SELECT * FROM t ORDER BY __svc_row_id')).toEqual(all);
    expect(await query('SELECT count(住所) AS n FROM t')).toEqual([{ n: 0 }]);
    const filtered = await filter("名前 = '佐藤'");
    for (let n = 0; n < 3; n += 1) expect(await filter("名前 = '佐藤'")).toEqual(filtered);
    const files = await readFiles();
    expect(files).toContain(Buffer.from('佐藤').toString('latin1'));
    expect(files).not.toMatch(/secret/);
  });

  it('shows what it is now: after an edit, after a change of policies, and when the copy is lost', async () => {
    await editRows(client, id, 't', [{ __svc_row_id: 2, 名前: '田中' }]);
    expect(await query('SELECT 名前 FROM t ORDER BY 1')).toEqual([{ 名前: '佐藤' }, { 名前: '田中' }]);
    await setPolicy(client, id, 'to mask', 'allow');
    expect(await query('SELECT 住所 FROM t WHERE 住所 IS NOT NULL')).toEqual([{ 住所: 'secret place' }]);
    await setPolicy(client, id, 'to mask', 'deny');
    for (let n = 0; n < 4; n += 1) expect(Object.keys((await query('SELECT * FROM t'))[0] as object)).not.toContain('住所');
    const before = hits();
    await expect.poll(() => query('SELECT * FROM t').then(() => hits() > before)).toBe(true);
    const root = join(store.services.config.dataDir, 'queries');
    for (const each of await readdir(root, { recursive: true, withFileTypes: true }))
      if (each.isFile() && /^\d+\.parquet$/.test(each.name)) await rm(join(each.parentPath, each.name), { force: true });
    expect(await query('SELECT 名前 FROM t ORDER BY 1')).toEqual([{ 名前: '佐藤' }, { 名前: '田中' }]);
  });
});
