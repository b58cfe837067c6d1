import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';
import { makeBook } from './world.ts';

const store = await useStoreWithWorker();

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** 売上 → 店別 (by key) → 合計. */
async function makeShops() {
  const book = await makeBook(store);
  await book.table(
    '売上',
    [{ name: '店' }, { name: '金額', type: 'BIGINT' }],
    [
      { 店: '東京', 金額: 100 },
      { 店: '大阪', 金額: 30 },
      { 店: '京都', 金額: 7 },
    ],
  );
  await book.create({
    name: '店別',
    template: "SELECT 店, sum(金額)::BIGINT AS 計, 'なし' AS 備考 FROM {{ d }} GROUP BY 店 ORDER BY 店",
    args: { d: '売上' },
    key: ['店'],
  });
  const { client } = store.owner;
  const path = { workbook_id: book.id };
  const rows = await book.read('店別');
  const idOf = (shop: string) => rows.find((row) => row.店 === shop)?.__svc_row_id as number;
  return {
    ...book,
    idOf,
    /** The column 計 by shop. */
    sums: async () => Object.fromEntries((await book.read('店別')).map((row) => [row.店, row.計])),
    override: (shop: string, cells: Record<string, unknown>) => book.edit('店別', [{ __svc_row_id: idOf(shop), ...cells }]),
    tryEdit: (rows: Record<string, unknown>[], key?: string[]) =>
      client.POST(`${base}/tables/{name}/rows`, {
        params: { path: { ...path, name: '店別' } },
        body: { rows, expected_version: null, ...(key && { key }) },
      }),
    undo: (opId: number) => client.POST(`${base}/ops/{op_id}/undo`, { params: { path: { ...path, op_id: opId } } }),
    conflicts: async () => ok(await client.GET(`${base}/conflicts`, { params: { path } })).conflicts,
    resolve: (id: string, action: 'acknowledge' | 'revert' | 'drop_override') =>
      client.POST(`${base}/conflicts/{conflict_id}/resolve`, { params: { path: { ...path, conflict_id: id } }, body: { action } }),
    query: async (sql: string) => {
      const answer = ok(await client.POST(`${base}/query`, { params: { path }, body: { sql } }));
      if (typeof answer === 'string') throw new Error('not JSON');
      return answer.rows;
    },
  };
}

describe('an edit of a derived table', () => {
  it('stays when the transform is run again, and shows everywhere', async () => {
    const book = await makeShops();
    const edited = await book.override('東京', { 計: 1 });
    expect(edited).toMatchObject({ edit_version: 2, updated: 1 });
    await book.edit('売上', [{ __svc_row_id: 2, 金額: 31 }]);
    expect(await book.run('店別')).toMatchObject({ output: { edit_version: 3 }, conflicts: [] });
    expect(await book.sums()).toEqual({ 京都: 7, 大阪: 31, 東京: 1 });
    expect(await book.query('SELECT sum(計)::BIGINT AS s FROM 店別')).toEqual([{ s: 39 }]);
    const { client } = store.owner;
    const path = { workbook_id: book.id, name: '店別' };
    const diff = ok(await client.GET(`${base}/tables/{name}/diff`, { params: { path, query: { from: '1', to: '3' } } }));
    expect(diff.updated.map(({ row_id, cells }) => [row_id, cells])).toEqual([
      [book.idOf('大阪'), [{ column: '計', old: 30, new: 31 }]],
      [book.idOf('東京'), [{ column: '計', old: 100, new: 1 }]],
    ]);
    const row = { params: { path: { ...path, row_id: book.idOf('東京') } } };
    const { changes } = ok(await client.GET(`${base}/tables/{name}/rows/{row_id}/history`, row));
    expect(changes.map(({ kind, cells }) => [kind, cells.find(({ column }) => column === '計')])).toEqual([
      ['update', { column: '計', old: 100, new: 1 }],
      ['insert', { column: '計', old: null, new: 100 }],
    ]);
    const file = await store.api.fetch(`/api/v1/workbooks/${book.id}/export`, {
      method: 'POST',
      token: store.owner.session,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ tables: ['店別'], format: 'csv', csv_bom: false }),
    });
    expect((await file.text()).trim().split(/\r?\n/)).toEqual(['店,計,備考', '京都,7,なし', '大阪,31,なし', '東京,1,なし']);
  });

  it('makes stale what is derived from it', async () => {
    const book = await makeShops();
    await book.create({ name: '合計', template: 'SELECT sum(計)::BIGINT AS 計 FROM {{ s }}', args: { s: '店別' } });
    expect((await book.override('東京', { 計: 1 })).stale).toEqual(['合計']);
    await book.run('合計');
    expect(await book.read('合計')).toMatchObject([{ 計: 38 }]);
  });

  it('can be undone: the cell is what the run gives, also what it gives since', async () => {
    const book = await makeShops();
    const first = await book.override('東京', { 計: 1 });
    const second = await book.override('東京', { 計: 2 });
    ok(await book.undo(second.op_id));
    expect((await book.sums()).東京).toBe(1);
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 101 }]);
    await book.run('店別');
    expect((await book.sums()).東京).toBe(1);
    ok(await book.undo(first.op_id));
    expect((await book.sums()).東京).toBe(101);
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 102 }]);
    expect(await book.run('店別')).toMatchObject({ conflicts: [] });
    expect((await book.sums()).東京).toBe(102);
  });

  it('back to the value of the run is no override any more', async () => {
    const book = await makeShops();
    await book.override('東京', { 計: 1, 備考: null });
    await book.override('東京', { 計: 100 });
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 103 }]);
    expect(await book.run('店別')).toMatchObject({ conflicts: [] });
    expect((await book.read('店別')).find((row) => row.店 === '東京')).toMatchObject({ 計: 103, 備考: null });
  });

  it('may be a block of a range, and a large one', async () => {
    const book = await makeBook(store);
    await book.table('元', [{ name: 'x' }], [{ x: 'a' }]);
    await book.create({
      name: '表',
      template: 'SELECT i AS k, i * 2 AS v FROM {{ t }}, range(1500) AS r(i) ORDER BY i',
      args: { t: '元' },
      key: ['k'],
    });
    const { client } = store.owner;
    const params = { path: { workbook_id: book.id, name: '表' } };
    const body = { range: 'B2:B3', values: [[-1], [-2]], expected_version: null };
    ok(await client.PUT(`${base}/tables/{name}/range`, { params, body }));
    await book.edit(
      '表',
      Array.from({ length: 1200 }, (_, i) => ({ __svc_row_id: i + 201, v: -i })),
    );
    await book.edit('元', [{ __svc_row_id: 1, x: 'b' }]);
    await book.run('表');
    const answer = ok(
      await client.POST(`${base}/query`, {
        params: { path: { workbook_id: book.id } },
        body: { sql: 'SELECT count(*) FILTER (WHERE v < 0)::BIGINT AS n, sum(v)::BIGINT AS s FROM 表' },
      }),
    );
    const kept = Array.from({ length: 1500 }, (_, i) => (i < 2 ? -i - 1 : i >= 200 && i < 1400 ? 200 - i : i * 2));
    expect(typeof answer === 'string' ? answer : answer.rows).toEqual([{ n: 1201, s: kept.reduce((a, b) => a + b) }]);
  });

  it('is refused for new rows and key columns', async () => {
    const book = await makeShops();
    for (const [rows, key, why] of [
      [[{ 店: '奈良', 計: 1 }], undefined, 'only cells'],
      [[{ 店: '奈良', 計: 1 }], ['店'], 'only cells'],
      [[{ __svc_row_id: 1, 店: '奈良' }], undefined, 'known by 店'],
    ] as const)
      expect(refused(await book.tryEdit([...rows], key && [...key]), 409, 'in-use').detail).toContain(why);
    expect((await book.getTable('店別')).edit_version).toBe(1);
  });

  it('is refused where it deletes rows, changes columns, or the transform has no key', async () => {
    const book = await makeShops();
    const { client } = store.owner;
    const params = { path: { workbook_id: book.id, name: '店別' } };
    const deleted = await client.POST(`${base}/tables/{name}/rows/delete`, { params, body: { row_ids: [1], expected_version: null } });
    expect(refused(deleted, 409, 'in-use').detail).toContain('only cells');
    const added = await client.POST(`${base}/tables/{name}/columns`, { params, body: { column: 'x', expected_version: null } });
    expect(refused(added, 409, 'in-use').detail).toContain('columns come from its transform');
    await book.create({ name: '店別', template: 'SELECT 店, 金額 AS 計 FROM {{ d }}', args: { d: '売上' } });
    expect(refused(await book.tryEdit([{ __svc_row_id: 1, 計: 1 }]), 409, 'in-use').detail).toContain('without `key`');
  });
});

describe('a run that gives another value below an override', () => {
  async function makeStale() {
    const book = await makeShops();
    await book.override('東京', { 計: 1 });
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 110 }]);
    const run = await book.run('店別');
    const [conflict] = await book.conflicts();
    if (!conflict) throw new Error('there is no conflict');
    expect(run.conflicts).toEqual([conflict.id]);
    return { book, conflict };
  }

  it('opens a conflict once, and keeps it up to date', async () => {
    const { book, conflict } = await makeStale();
    expect(conflict).toMatchObject({
      table: '店別',
      row_id: book.idOf('東京'),
      column: '計',
      kind: 'stale_override',
      status: 'open',
      base: 100,
      prior: 110,
      current: 1,
      branch_id: null,
    });
    expect(await book.events('conflict.created')).toEqual([
      { artifact_id: expect.any(String), name: '店別', conflict_id: conflict.id, kind: 'stale_override' },
    ]);
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 120 }]);
    expect(await book.run('店別')).toMatchObject({ conflicts: [] });
    expect(await book.conflicts()).toMatchObject([{ id: conflict.id, base: 100, prior: 120, current: 1 }]);
    expect((await book.sums()).東京).toBe(1);
    refused(await book.resolve(conflict.id, 'revert'), 409, 'in-use');
  });

  it('is acknowledged: the override stays until it moves again', async () => {
    const { book, conflict } = await makeStale();
    expect(ok(await book.resolve(conflict.id, 'acknowledge'))).toMatchObject({ status: 'acknowledged', current: 1, edit_version: null });
    expect(await book.run('店別')).toMatchObject({ conflicts: [] });
    expect((await book.sums()).東京).toBe(1);
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 120 }]);
    expect((await book.run('店別')).conflicts.length).toBe(1);
    expect(await book.conflicts()).toMatchObject([
      { base: 110, prior: 120, status: 'open' },
      { base: 100, prior: 110, status: 'acknowledged' },
    ]);
  });

  it('is given up: the cell follows the transform again', async () => {
    const { book, conflict } = await makeStale();
    await book.create({ name: '合計', template: 'SELECT sum(計)::BIGINT AS 計 FROM {{ s }}', args: { s: '店別' } });
    const resolved = ok(await book.resolve(conflict.id, 'drop_override'));
    expect(resolved).toMatchObject({ status: 'override_dropped', current: 110, stale: ['合計'], op_id: expect.any(Number) });
    expect((await book.getTable('店別')).edit_version).toBe(resolved.edit_version);
    expect((await book.sums()).東京).toBe(110);
    refused(await book.resolve(conflict.id, 'drop_override'), 409, 'in-use');
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 120 }]);
    expect(await book.run('店別')).toMatchObject({ conflicts: [] });
    expect((await book.sums()).東京).toBe(120);
  });

  it('is closed by another edit of the cell', async () => {
    const { book, conflict } = await makeStale();
    await book.override('東京', { 計: 2 });
    expect(await book.conflicts()).toMatchObject([{ id: conflict.id, status: 'acknowledged', current: 2 }]);
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 120 }]);
    await book.run('店別');
    expect((await book.conflicts())[0]).toMatchObject({ base: 110, prior: 120, current: 2, status: 'open' });
    await book.override('東京', { 計: 120 });
    expect((await book.conflicts())[0]).toMatchObject({ status: 'override_dropped', current: 120 });
  });

  it('or no such row, or no such column, ends the override', async () => {
    const book = await makeShops();
    await book.override('京都', { 計: 1, 備考: 'あり' });
    await book.override('大阪', { 備考: 'あり' });
    await book.create({
      name: '店別',
      template: "SELECT 店, sum(金額)::BIGINT AS 計 FROM {{ d }} WHERE 店 <> '京都' GROUP BY 店",
      args: { d: '売上' },
      key: ['店'],
    });
    const conflicts = await book.conflicts();
    expect(conflicts.map(({ column, base, prior, current }) => [column, base, prior, current]).sort()).toEqual([
      ['備考', 'なし', null, 'あり'],
      ['備考', 'なし', null, 'あり'],
      ['計', 7, null, 1],
    ]);
    const [first] = conflicts;
    expect(ok(await book.resolve(first?.id ?? '', 'drop_override'))).toMatchObject({
      status: 'override_dropped',
      current: null,
      edit_version: null,
    });
    expect(await book.sums()).toEqual({ 大阪: 30, 東京: 100 });
  });

  it('that is the value of the override makes a conflict too, and dropping it changes no value', async () => {
    const book = await makeShops();
    await book.override('東京', { 計: 110 });
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 110 }]);
    const { conflicts } = await book.run('店別');
    ok(await book.resolve(conflicts[0] ?? '', 'drop_override'));
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 111 }]);
    await book.run('店別');
    expect((await book.sums()).東京).toBe(111);
  });
});
