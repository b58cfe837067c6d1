import { describe, expect, it } from 'vitest';
import { isViewDue, type ViewInput } from '../../core/transforms/viewDue.ts';
import { ok, refused } from '../setup/api.ts';
import { hideColumns, showColumns } from '../setup/governance.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';
import { makeBook } from './world.ts';

const store = await useStoreWithWorker();

const base = '/api/v1/workbooks/{workbook_id}' as const;

const byShop = {
  name: '店別',
  template: 'SELECT 店, sum(金額)::BIGINT AS 計 FROM {{ d }} GROUP BY 店 ORDER BY 店',
  args: { d: '売上' },
  key: ['店'],
};

/** 売上 → 店別 (a view) → 大店 (a view of it). */
async function makeViews() {
  const book = await makeBook(store);
  await book.table(
    '売上',
    [{ name: '店' }, { name: '金額', type: 'BIGINT' }, { name: '備考' }],
    [
      { 店: '東京', 金額: 100 },
      { 店: '大阪', 金額: 30 },
    ],
  );
  await book.create({ ...byShop, materialize: 'view' });
  await book.create({ name: '大店', template: 'SELECT 店, 計 FROM {{ s }} WHERE 計 >= 50', args: { s: '店別' }, materialize: 'view' });
  const { client } = store.owner;
  const path = { workbook_id: book.id };
  return {
    ...book,
    sums: async () => Object.fromEntries((await book.read('店別')).map((row) => [row.店, row.計])),
    tryRead: (name: string) => client.GET(`${base}/tables/{name}/rows`, { params: { path: { ...path, name } } }),
    query: async (sql: string) => {
      const answer = ok(await client.POST(`${base}/query`, { params: { path }, body: { sql } }));
      if (typeof answer === 'string') throw new Error('not JSON');
      return answer.rows;
    },
    runs: async () => (await book.ops()).filter(({ kind, table }) => kind === 'transform.run' && table === '店別').length,
  };
}

describe('whether a view is made again', () => {
  const input = (text: string): ViewInput => ({ isMarked: text.includes('m'), hasMoved: text.includes('v'), isStale: text.includes('s') });
  it.each([
    ['nothing changed', false, ['', ''], false],
    ['its transform was replaced', true, [''], true],
    ['an input moved in what it does not use', false, ['v'], false],
    ['an input moved in what it uses', false, ['', 'mv'], true],
    ['a stale table lies before it', false, ['ms'], false],
    ['a stale table lies before it, and another input moved', false, ['ms', 'mv'], true],
    ['a table before it was run and gave the same', false, ['m'], true],
  ])('if %s', (_, isRevised, inputs, due) => {
    expect(isViewDue({ isRevised, inputs: inputs.map(input) })).toBe(due);
  });
});

describe('a view', () => {
  it('is what its transform makes of the tables as they are, for every reader', async () => {
    const book = await makeViews();
    expect(await book.getTable('店別')).toMatchObject({ type: 'view', layer: 'view', transform: { name: '店別' } });
    const { client } = store.owner;
    const params = { path: { workbook_id: book.id, name: '店別' } };
    const read: [string, () => Promise<unknown>, (sum: number) => unknown][] = [
      ['rows', async () => (await book.read('店別'))[1], (計) => ({ __svc_row_id: 2, 店: '東京', 計 })],
      ['query', async () => (await book.query("SELECT 計 FROM 店別 WHERE 店 = '東京'"))[0], (計) => ({ 計 })],
      ['a view of it', async () => (await book.read('大店'))[0], (計) => expect.objectContaining({ 計 })],
      ['query of a view of it', async () => (await book.query('SELECT sum(計)::BIGINT AS s FROM 大店'))[0], (s) => ({ s })],
      [
        'range',
        async () => ok(await client.GET(`${base}/tables/{name}/range`, { params: { ...params, query: { range: 'B3' } } })).values,
        (sum) => [[sum]],
      ],
      [
        'one row',
        async () => ok(await client.GET(`${base}/tables/{name}/rows/{row_id}`, { params: { path: { ...params.path, row_id: 2 } } })),
        (計) => expect.objectContaining({ row: expect.objectContaining({ 計 }) }),
      ],
      ['profile', async () => ok(await client.GET(`${base}/tables/{name}/profile`, { params })).columns[1]?.max, (sum) => sum],
      [
        'diff',
        async () => ok(await client.GET(`${base}/tables/{name}/diff`, { params: { ...params, query: { from: '1' } } })).updated,
        (計) => [{ row_id: 2, cells: [{ column: '計', old: 100, new: 計 }] }],
      ],
      [
        'export',
        async () => {
          const answer = await store.api.fetch(`/api/v1/workbooks/${book.id}/export`, {
            method: 'POST',
            token: store.owner.session,
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ tables: ['店別'], format: 'csv', csv_bom: false }),
          });
          return (await answer.text()).trim().split(/\r?\n/)[2];
        },
        (sum) => `東京,${sum}`,
      ],
    ];
    let sum = 100;
    for (const [name, reader, expected] of read) {
      sum += 1;
      await book.edit('売上', [{ __svc_row_id: 1, 金額: sum }]);
      expect({ [name]: await reader() }).toEqual({ [name]: expected(sum) });
    }
  });

  it('is what a query is checked against', async () => {
    const book = await makeViews();
    await book.create({ name: '窓', template: 'SELECT * FROM {{ d }}', args: { d: '売上' }, materialize: 'view' });
    await book.addColumn('売上', '地域');
    const validate = async (sql: string) =>
      ok(await store.owner.client.POST(`${base}/query/validate`, { params: { path: { workbook_id: book.id } }, body: { sql } }));
    expect(await validate('SELECT 地域 FROM 窓')).toMatchObject({ valid: true, columns: [{ name: '地域' }] });
    await book.create({ name: '窓', template: 'SELECT 店 FROM {{ d }}', args: { d: '売上' }, materialize: 'view' });
    expect(await validate('SELECT 地域 FROM 窓')).toMatchObject({ valid: false });
  });

  it('is made once for what it reads, by one of many readers, and not for columns that it does not use', async () => {
    const book = await makeViews();
    const before = await book.runs();
    expect((await book.edit('売上', [{ __svc_row_id: 1, 金額: 7 }])).stale.sort()).toEqual(['大店', '店別']);
    const all = await Promise.all(Array.from({ length: 6 }, () => book.sums()));
    expect(all).toEqual(Array.from({ length: 6 }, () => ({ 大阪: 30, 東京: 7 })));
    await book.edit('売上', [{ __svc_row_id: 1, 備考: 'x' }]);
    await book.sums();
    expect((await book.runs()) - before).toBe(1);
    expect((await book.getTable('店別')).freshness).toEqual({ stale: false, stale_since: null });
  });

  it('that reads a stale table shows that table as it is, and says that it is stale', async () => {
    const book = await makeViews();
    await book.create({ name: '表', template: 'SELECT 店, 金額 AS 額 FROM {{ d }}', args: { d: '売上' } });
    await book.create({ name: '表の窓', template: 'SELECT sum(額)::BIGINT AS 計 FROM {{ t }}', args: { t: '表' }, materialize: 'view' });
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 1 }]);
    expect(await book.read('表の窓')).toMatchObject([{ 計: 130 }]);
    expect((await book.getTable('表の窓')).freshness.stale).toBe(true);
    await book.run('表');
    expect(await book.read('表の窓')).toMatchObject([{ 計: 31 }]);
    expect((await book.getTable('表の窓')).freshness.stale).toBe(false);
  });

  it('feeds tables that are derived from it, and the lineage goes through it', async () => {
    const book = await makeViews();
    await book.create({ name: '件数', template: 'SELECT count(*) AS n FROM {{ s }}', args: { s: '大店' } });
    await book.edit('売上', [{ __svc_row_id: 2, 金額: 60 }]);
    await book.run('件数');
    expect(await book.read('件数')).toMatchObject([{ n: 2 }]);
    const lineage = ok(
      await store.owner.client.GET(`${base}/tables/{name}/lineage`, { params: { path: { workbook_id: book.id, name: '件数' } } }),
    );
    if (typeof lineage === 'string') throw new Error('not JSON');
    expect(lineage.nodes.filter(({ kind }) => kind === 'view').map(({ name }) => name)).toEqual(expect.arrayContaining(['店別', '大店']));
    expect(lineage.nodes.map(({ name }) => name)).toContain('売上');
  });

  it('is held by a snapshot as it is at that moment', async () => {
    const book = await makeViews();
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 5 }]);
    const path = { workbook_id: book.id };
    ok(await store.owner.client.POST(`${base}/versions`, { params: { path }, body: { label: 'v1' } }));
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 6 }]);
    expect(await book.sums()).toEqual({ 大阪: 30, 東京: 6 });
    const then = ok(
      await store.owner.client.POST(`${base}/query`, { params: { path }, body: { sql: 'SELECT 計 FROM 店別 ORDER BY 計', at: 'v1' } }),
    );
    expect(typeof then === 'string' ? then : then.rows).toEqual([{ 計: 5 }, { 計: 30 }]);
  });

  it('that fails says why to its readers, and is read again when it works', async () => {
    const book = await makeViews();
    await book.create({
      name: '数',
      template: "SELECT CAST(店 AS BIGINT) AS n FROM {{ d }} WHERE 店 NOT IN ('東京', '大阪')",
      args: { d: '売上' },
      materialize: 'view',
    });
    await book.edit('売上', [{ 店: '京都', 金額: 1 }]);
    expect(refused(await book.tryRead('数'), 400, 'query-failed').detail).toMatch(/The view 数 cannot be made: .*京都/);
    expect((await book.get('数')).last_error).toContain('京都');
    // What is told of it, and other tables, can be read.
    expect((await book.getTable('数')).freshness.stale).toBe(true);
    expect((await book.sums()).京都).toBe(1);
    await book.edit('売上', [{ __svc_row_id: 3, 店: '12' }]);
    expect(await book.read('数')).toMatchObject([{ n: 12 }]);
    expect((await book.get('数')).last_error).toBeNull();
  });

  it('holds the same whoever reads it first, and tells nobody values that are hidden', async () => {
    const book = await makeViews();
    await book.create({
      name: '数',
      template: "SELECT CAST(店 AS BIGINT) AS n FROM {{ d }} WHERE 店 NOT IN ('東京', '大阪')",
      args: { d: '売上' },
      materialize: 'view',
    });
    await book.edit('売上', [
      { __svc_row_id: 1, 金額: 8 },
      { 店: '京都', 金額: 1 },
    ]);
    await hideColumns(store.owner.client, book.id, '売上', { 金額: 'mask' });
    expect((await book.read('店別')).map(({ 店, 計 }) => [店, 計])).toEqual([
      ['大阪', null],
      ['東京', null],
      ['京都', null],
    ]);
    expect(refused(await book.tryRead('数'), 400, 'query-failed').detail).not.toContain('京都');
    await showColumns(store.owner.client, book.id);
    const runs = await book.runs();
    expect(await book.sums()).toEqual({ 大阪: 30, 東京: 8, 京都: 1 });
    expect(await book.runs()).toBe(runs);
  });

  it('takes no edits, and does not branch', async () => {
    const book = await makeViews();
    const { client } = store.owner;
    const params = { path: { workbook_id: book.id, name: '店別' } };
    const edits = [
      await client.POST(`${base}/tables/{name}/rows`, { params, body: { rows: [{ __svc_row_id: 1, 計: 1 }], expected_version: null } }),
      await client.POST(`${base}/tables/{name}/rows/delete`, { params, body: { row_ids: [1], expected_version: null } }),
      await client.PUT(`${base}/tables/{name}/range`, { params, body: { range: 'B2', values: [[1]], expected_version: null } }),
      await client.POST(`${base}/tables/{name}/columns`, { params, body: { column: 'x', expected_version: null } }),
    ];
    for (const answer of edits) expect(refused(answer, 409, 'in-use').detail).toContain('is a view');
    const branch = await client.POST(`${base}/export`, {
      params: { path: { workbook_id: book.id } },
      body: { tables: ['店別'], format: 'xlsx', record_branch: true },
      parseAs: 'text',
    });
    expect(branch.response.status).toBe(400);
    expect(await book.sums()).toEqual({ 大阪: 30, 東京: 100 });
  });

  it('becomes a table and a view again; edits of the table end then', async () => {
    const book = await makeViews();
    await book.create({ ...byShop, materialize: 'table' });
    expect(await book.getTable('店別')).toMatchObject({ type: 'table', layer: 'derived' });
    await book.edit('店別', [{ __svc_row_id: 2, 計: 1 }]);
    const { conflicts } = await book.create({ ...byShop, materialize: 'view' });
    expect(conflicts.length).toBe(1);
    expect(await book.getTable('店別')).toMatchObject({ type: 'view', layer: 'view' });
    expect(await book.sums()).toEqual({ 大阪: 30, 東京: 100 });
  });

  it('is not made by Python', async () => {
    const book = await makeViews();
    const wanted = { name: 'p', language: 'python' as const, template: 'def transform(d): return d', args: { d: '売上' } };
    expect(refused(await book.tryCreate({ ...wanted, materialize: 'view' }), 422, 'validation-failed').errors).toMatchObject([
      { pointer: '/materialize' },
    ]);
  });

  it('is refreshed by recompute, too', async () => {
    const book = await makeViews();
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 9 }]);
    const result = ok(await store.owner.client.POST(`${base}/recompute`, { params: { path: { workbook_id: book.id } } }));
    if (!('recomputed' in result)) throw new Error('it took too long');
    expect(result.recomputed.map((output) => output.name)).toEqual(['店別', '大店']);
  });
});
