import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';
import { bases, StalenessModel, steps, templateOf, transforms } from './stalenessModel.ts';
import { makeBook } from './world.ts';

const store = await useStoreWithWorker();

/** 売上 → 店別 → 合計; 売上 → 月別. */
async function makeChain() {
  const book = await makeBook(store);
  await book.table(
    '売上',
    [{ name: '店' }, { name: '月' }, { name: '金額', type: 'BIGINT' }, { name: '備考' }],
    [
      { 店: '東京', 月: '04', 金額: 100, 備考: '' },
      { 店: '大阪', 月: '04', 金額: 30, 備考: '' },
    ],
  );
  await book.create({ name: '店別', template: 'SELECT 店, sum(金額) AS 計 FROM {{ d }} GROUP BY 店', args: { d: '売上' }, key: ['店'] });
  await book.create({ name: '月別', template: 'SELECT 月, count(*) AS 件数 FROM {{ d }} GROUP BY 月', args: { d: '売上' }, key: ['月'] });
  await book.create({ name: '合計', template: 'SELECT sum(計) AS 計 FROM {{ s }}', args: { s: '店別' } });
  return book;
}

describe('an edit', () => {
  it('makes stale what uses the changed columns, and what is made from that', async () => {
    const book = await makeChain();
    expect((await book.edit('売上', [{ __svc_row_id: 1, 金額: 101 }])).stale).toEqual(['合計', '店別']);
    expect(await book.stale()).toEqual(['合計', '店別']);
    expect((await book.getTable('店別')).freshness).toEqual({ stale: true, stale_since: expect.stringMatching(/Z$/), inputs: ['売上'] });
    const { freshness } = await book.getTable('合計');
    expect(freshness).toMatchObject({ stale: true, inputs: ['店別'] });
    // Once, with the inputs that moved.
    expect((await book.edit('売上', [{ __svc_row_id: 1, 金額: 102 }])).stale).toEqual([]);
    expect((await book.getTable('合計')).freshness).toEqual(freshness);
    expect((await book.events('artifact.stale')).map(({ name, inputs }) => [name, inputs])).toEqual([
      ['合計', ['店別']],
      ['店別', ['売上']],
    ]);
  });

  it.each([
    ['a column that nothing uses', [{ __svc_row_id: 1, 備考: 'x' }], []],
    ['another column', [{ __svc_row_id: 1, 月: '05' }], ['月別']],
    ['a value that is the same', [{ __svc_row_id: 1, 金額: 100 }], []],
    ['rows that come', [{ 店: '京都', 月: '04', 金額: 1 }], ['合計', '店別', '月別']],
  ])('of %s', async (_, rows, stale) => {
    const book = await makeChain();
    expect((await book.edit('売上', rows)).stale).toEqual(stale);
    expect(await book.stale()).toEqual(stale);
  });

  it('that adds a column makes stale what takes all columns, and what takes all of that', async () => {
    const book = await makeBook(store);
    await book.table('a', [{ name: 'n', type: 'BIGINT' }], [{ n: 1 }]);
    await book.create({ name: 'all', template: 'SELECT * FROM {{ a }}', args: { a: 'a' } });
    await book.create({ name: 'all_of_all', template: 'SELECT s.*, 1 AS one FROM {{ s }} s', args: { s: 'all' } });
    await book.create({ name: 'named', template: 'SELECT n, count(*) AS k FROM {{ a }} GROUP BY n', args: { a: 'a' } });
    await book.create({ name: 'named_of_all', template: 'SELECT n FROM {{ s }}', args: { s: 'all' } });
    expect((await book.addColumn('a', 'm')).stale).toEqual(['all', 'all_of_all']);
    await book.recompute();
    expect((await book.getTable('all_of_all')).columns.map(({ name }) => name)).toEqual(['n', 'm', 'one', '__svc_row_id']);
    expect(await book.stale()).toEqual([]);
    expect((await book.edit('a', [{ __svc_row_id: 1, m: 'x' }])).stale).toEqual(['all', 'all_of_all']);
  });

  it('of more columns than before reaches further', async () => {
    const book = await makeChain();
    await book.create({ name: '店名', template: 'SELECT 店 FROM {{ s }}', args: { s: '店別' } });
    expect((await book.edit('売上', [{ __svc_row_id: 1, 金額: 1 }])).stale).toEqual(['合計', '店別']);
    expect((await book.edit('売上', [{ __svc_row_id: 1, 店: '京都' }])).stale).toEqual(['店名']);
  });
});

describe('recompute', () => {
  it('runs what is stale in order, and nothing else', async () => {
    const book = await makeChain();
    expect(await book.recompute()).toEqual({ recomputed: [], failed: [], conflicts: [], skipped_reports: [] });
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 101 }]);
    const { recomputed } = await book.recompute();
    expect(recomputed).toEqual([
      { name: '店別', edit_version: 2, row_count: 2 },
      { name: '合計', edit_version: 2, row_count: 1 },
    ]);
    expect(await book.stale()).toEqual([]);
    expect(await book.read('合計')).toMatchObject([{ 計: 131 }]);
  });

  it('lists what failed, leaves what is made from it stale, and runs the others', async () => {
    const book = await makeChain();
    await book.create({
      name: '数',
      template: "SELECT CAST(店 AS BIGINT) + 1 AS n FROM {{ s }} WHERE 店 <> '東京' AND 店 <> '大阪'",
      args: { s: '店別' },
    });
    await book.create({ name: '数2', template: 'SELECT n FROM {{ s }}', args: { s: '数' } });
    await book.edit('売上', [{ 店: '京都', 月: '05', 金額: 1 }]);
    const { recomputed, failed } = await book.recompute();
    expect(recomputed.map(({ name }) => name).sort()).toEqual(['合計', '店別', '月別']);
    expect(failed).toEqual([{ name: '数', error: expect.stringContaining('京都') }]);
    expect(await book.stale()).toEqual(['数', '数2']);
    expect((await book.get('数')).last_error).toContain('京都');
  });

  it('of what failed goes on where it is mended', async () => {
    const book = await makeChain();
    await book.create({
      name: '数',
      template: "SELECT CAST(nullif(店, '東京') AS BIGINT) AS n FROM {{ s }} WHERE 店 <> '大阪'",
      args: { s: '店別' },
    });
    await book.edit('売上', [{ __svc_row_id: 2, 店: '名古屋' }]);
    expect((await book.recompute()).failed.map(({ name }) => name)).toEqual(['数']);
    await book.edit('売上', [{ __svc_row_id: 2, 店: '7' }]);
    const { recomputed, failed } = await book.recompute();
    expect([recomputed.map(({ name }) => name).toSorted(), failed]).toEqual([['合計', '店別', '数'], []]);
    expect(await book.get('数')).toMatchObject({ last_error: null, freshness: { stale: false } });
  });

  it('lists stale reports, and leaves them', async () => {
    const book = await makeChain();
    await book.table('報告', [{ name: '文' }]);
    const { sql } = store.api;
    await sql.query("UPDATE tables SET type = 'report' WHERE workbook_id = $1 AND name = '報告'", [book.id]);
    await sql.query(
      `INSERT INTO table_inputs (table_id, input_id, kind) SELECT r.id, t.id, 'transform' FROM tables r, tables t
       WHERE r.workbook_id = $1 AND t.workbook_id = $1 AND r.name = '報告' AND t.name = '合計'`,
      [book.id],
    );
    expect((await book.recompute()).skipped_reports).toEqual([]);
    expect((await book.edit('売上', [{ __svc_row_id: 1, 金額: 9 }])).stale).toEqual(['合計', '報告', '店別']);
    const { recomputed, skipped_reports } = await book.recompute();
    expect([recomputed.map(({ name }) => name), skipped_reports]).toEqual([['店別', '合計'], ['報告']]);
    expect((await book.recompute()).skipped_reports).toEqual(['報告']);
  });
});

describe('a run', () => {
  it('runs what is made from its output', async () => {
    const book = await makeChain();
    await book.edit('売上', [{ __svc_row_id: 2, 金額: 31 }]);
    const { recomputed } = await book.run('店別');
    expect(recomputed).toEqual([{ name: '合計', edit_version: 2, row_count: 1 }]);
    expect(await book.stale()).toEqual([]);
  });

  it('that changes one of many columns runs what uses that one', async () => {
    const book = await makeBook(store);
    await book.table('a', [{ name: 'k' }, { name: 'v', type: 'BIGINT' }], [{ k: 'x', v: 1 }]);
    const zeros = Array.from({ length: 80 }, (_, i) => `0 AS z${i}`);
    const template = `SELECT k, ${zeros.slice(0, 70)}, v, ${zeros.slice(70)} FROM {{ a }}`;
    await book.create({ name: 'wide', template, args: { a: 'a' }, key: ['k'] });
    for (const column of ['z0', 'z7', 'z63', 'v', 'z79'])
      await book.create({ name: `of_${column}`, template: `SELECT ${column} AS n FROM {{ w }}`, args: { w: 'wide' } });
    const runWith = async (v: number) => {
      await book.edit('a', [{ __svc_row_id: 1, v }]);
      return (await book.run('wide')).recomputed.map(({ name }) => name);
    };
    expect(await runWith(2)).toEqual(['of_v']);
    // An override differs from the result, but not from what the table has shown before.
    await book.edit('wide', [{ __svc_row_id: 1, z79: 5 }]);
    await book.run('of_z79');
    expect(await runWith(3)).toEqual(['of_v']);
    expect([await book.read('of_v'), await book.read('of_z79')]).toMatchObject([[{ n: 3 }], [{ n: 5 }]]);
    expect(await book.stale()).toEqual([]);
  });

  it('runs what it is made from before, as far as that is stale', async () => {
    const book = await makeChain();
    await book.edit('売上', [
      { __svc_row_id: 2, 金額: 31 },
      { __svc_row_id: 1, 月: '05' },
    ]);
    const { recomputed, transform } = await book.run('合計');
    expect([recomputed, transform.freshness.stale]).toEqual([[{ name: '店別', edit_version: 2, row_count: 2 }], false]);
    expect(await book.read('合計')).toMatchObject([{ 計: 131 }]);
    expect(await book.stale()).toEqual(['月別']);
  });

  it('of what is made from a table that cannot be made again leaves its output stale', async () => {
    const book = await makeChain();
    await book.create({
      name: '数',
      template: "SELECT CAST(nullif(店, '東京') AS BIGINT) AS n FROM {{ s }} WHERE 店 <> '大阪'",
      args: { s: '店別' },
    });
    await book.create({ name: '数2', template: 'SELECT count(n) AS n FROM {{ s }}', args: { s: '数' } });
    await book.edit('売上', [{ __svc_row_id: 2, 店: '名古屋' }]);
    const { failed, transform } = await book.run('数2');
    expect(failed).toEqual([{ name: '数', error: expect.stringContaining('名古屋') }]);
    expect(transform.freshness).toMatchObject({ stale: true, inputs: ['数'] });
    expect((await book.events('artifact.stale')).filter(({ name }) => name === '数2').length).toBe(1);
  });

  it('is wanted of what is made from a transform that was replaced without one', async () => {
    const book = await makeChain();
    const template = 'SELECT 店, sum(金額) * 2 AS 計 FROM {{ d }} GROUP BY 店';
    await book.create({ name: '店別', template, args: { d: '売上' }, key: ['店'], run: false });
    expect(await book.stale()).toEqual(['合計', '店別']);
    await book.create({ name: '店別', template, args: { d: '売上' }, key: ['店'], run: false });
    expect((await book.events('artifact.stale')).map(({ name, inputs }) => [name, inputs])).toEqual([
      ['店別', []],
      ['合計', ['店別']],
    ]);
    await book.recompute();
    expect(await book.stale()).toEqual([]);
    expect(await book.read('合計')).toMatchObject([{ 計: 260 }]);
  });

  it('during which an input moves on leaves its output stale', async () => {
    const book = await makeChain();
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 5 }]);
    // The run cannot commit while the table's row is locked; the edit that holds it commits first.
    const blocker = await store.api.sql.connect();
    await blocker.query('BEGIN');
    await blocker.query("SELECT 1 FROM tables WHERE workbook_id = $1 AND name = '売上' FOR UPDATE", [book.id]);
    const running = book.run('月別');
    await expect
      .poll(
        async () => (await blocker.query('SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))')).rowCount,
      )
      .toBe(1);
    await blocker.query(
      "UPDATE tables SET edit_version = edit_version + 1, version_uid = 'ver_x' WHERE workbook_id = $1 AND name = '売上'",
      [book.id],
    );
    await blocker.query('COMMIT');
    blocker.release();
    expect((await running).transform.freshness.stale).toBe(true);
  });
});

describe('in random graphs', () => {
  it('a table is stale as long as an edit of something that it uses is not taken in', async () => {
    let value = 100;
    const next = () => {
      value += 1;
      return value;
    };
    await fc.assert(
      fc.asyncProperty(transforms, steps, async (wanted, todo) => {
        const book = await makeBook(store);
        const columns = ['k', 'p', 'q'].map((name) => ({ name, type: 'BIGINT' }));
        for (const base of bases)
          await book.table(
            base,
            columns,
            [1, 2].map((k) => ({ k, p: next(), q: next() })),
          );
        for (const transform of wanted) {
          const args = Object.fromEntries(transform.inputs.map((input, i) => ['ab'[i], input]));
          await book.create({ name: transform.name, template: templateOf(transform), args, key: ['k'] });
        }
        const model = new StalenessModel(wanted);
        for (const step of todo) {
          if (step.do === 'edit') {
            await book.edit(step.table, [{ __svc_row_id: 1, [step.column]: next() }]);
            model.edit(step.table, new Set([step.column]));
          } else if (step.do === 'insert') {
            await book.edit(step.table, [{ k: next(), p: next(), q: next() }]);
            model.edit(step.table, 'all');
          } else if (step.do === 'run') {
            await book.run(step.name);
            model.run(step.name);
          } else {
            await book.recompute();
            model.recompute();
          }
          expect({ step, stale: await book.stale() }).toEqual({ step, stale: model.listStale() });
        }
      }),
      { numRuns: 2, endOnFailure: true },
    );
  }, 300_000);
});
