import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import type { TestStore } from '../tables/store.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';
import { makeBook } from './world.ts';

let store: TestStore;
beforeAll(async () => {
  store = await useStoreWithWorker();
});

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
  const stale = async () => (await book.list()).filter(({ freshness }) => freshness.stale).map(({ name }) => name);
  const recompute = async () => {
    const result = ok(
      await store.owner.client.POST('/api/v1/workbooks/{workbook_id}/recompute', { params: { path: { workbook_id: book.id } } }),
    );
    if (!('recomputed' in result)) throw new Error('it took too long');
    return result;
  };
  return { ...book, stale, recompute };
}

describe('an edit', () => {
  it('makes stale what uses the changed columns, and what is made from that', async () => {
    const book = await makeChain();
    expect((await book.edit('売上', [{ __svc_row_id: 1, 金額: 101 }])).stale).toEqual(['合計', '店別']);
    expect(await book.stale()).toEqual(['合計', '店別']);
    expect((await book.getTable('店別')).freshness).toEqual({ stale: true, stale_since: expect.stringMatching(/Z$/), inputs: ['売上'] });
    // Once, with the inputs that moved.
    expect((await book.edit('売上', [{ __svc_row_id: 1, 金額: 102 }])).stale).toEqual([]);
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

  it('is joined by a second request', async () => {
    const book = await makeChain();
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 7 }]);
    const both = await Promise.all([book.recompute(), book.recompute()]);
    expect(both[0].recomputed.length + both[1].recomputed.length).toBeGreaterThanOrEqual(2);
    expect(await book.stale()).toEqual([]);
    const { rows } = await store.api.sql.query("SELECT 1 FROM ops WHERE scope = $1 AND kind = 'transform.run'", [book.id]);
    expect(rows.length).toBe(5);
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
        { timeout: 20_000 },
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
