import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';
import { makeBook } from './world.ts';

const store = await useStoreWithWorker();

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** 売上 → 店別 → 合計. */
async function makeChain() {
  const book = await makeBook(store);
  await book.table(
    '売上',
    [{ name: '店' }, { name: '金額', type: 'BIGINT' }],
    [
      { 店: '東京', 金額: 100 },
      { 店: '大阪', 金額: 30 },
    ],
  );
  await book.create({
    name: '店別',
    template: 'SELECT 店, sum(金額)::BIGINT AS 計 FROM {{ d }} GROUP BY 店 ORDER BY 店',
    args: { d: '売上' },
    key: ['店'],
  });
  await book.create({ name: '合計', template: 'SELECT sum(計)::BIGINT AS 計 FROM {{ s }}', args: { s: '店別' } });
  const { client } = store.owner;
  const path = { workbook_id: book.id };
  return {
    ...book,
    commit: async () => ok(await client.POST(`${base}/snapshots`, { params: { path }, body: { summary: 's', event_type: 'manual' } })).id,
    restore: async (snapshot_id: string) => {
      const answer = ok(await client.POST(`${base}/snapshots/{snapshot_id}/restore`, { params: { path: { ...path, snapshot_id } } }));
      if (!('restored' in answer)) throw new Error('it took too long');
      return {
        restored: answer.restored.map(({ name }) => name).sort(),
        recomputed: answer.recomputed.map(({ name }) => name),
        archived: answer.archived,
        failed: answer.failed,
      };
    },
    conflicts: async () => ok(await client.GET(`${base}/conflicts`, { params: { path } })).conflicts,
    sums: async () => Object.fromEntries((await book.read('店別')).map((row) => [row.店, row.計])),
    stale: async () => (await book.list()).filter(({ freshness }) => freshness.stale).map(({ name }) => name),
  };
}

describe('a restore', () => {
  it('brings derived tables back as they were, with their rows and overrides, and runs nothing that agrees', async () => {
    const book = await makeChain();
    const tokyo = (await book.read('店別')).find((row) => row.店 === '東京')?.__svc_row_id as number;
    await book.edit('店別', [{ __svc_row_id: tokyo, 計: 1 }]);
    await book.run('合計');
    const rows = await book.read('店別');
    const snapshot = await book.commit();
    // Another value below the override, another override, and a row that goes.
    await book.edit('売上', [
      { __svc_row_id: 1, 金額: 110 },
      { __svc_row_id: 2, 店: '京都', 金額: 40 },
    ]);
    await book.run('店別');
    await book.edit('店別', [{ __svc_row_id: tokyo, 計: 2 }]);
    expect(await book.sums()).toEqual({ 東京: 2, 京都: 40 });
    expect(await book.restore(snapshot)).toEqual({ restored: ['合計', '売上', '店別'], recomputed: [], archived: [], failed: [] });
    expect(await book.read('店別')).toEqual(rows);
    expect(await book.read('合計')).toMatchObject([{ 計: 31 }]);
    expect(await book.stale()).toEqual([]);
    // The override holds as it did: over 100, which the run gives again.
    const before = (await book.conflicts()).length;
    await book.run('店別');
    expect((await book.conflicts()).length).toBe(before);
    expect(await book.sums()).toEqual({ 東京: 1, 大阪: 30 });
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 120 }]);
    await book.run('店別');
    expect((await book.conflicts())[0]).toMatchObject({ base: 100, prior: 120, current: 1, status: 'open' });
  });

  it('does not run a table that was not run since', async () => {
    const book = await makeChain();
    const snapshot = await book.commit();
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 7 }]);
    expect(await book.stale()).toEqual(['合計', '店別']);
    const events = (await book.events('artifact.stale')).length;
    expect(await book.restore(snapshot)).toEqual({ restored: ['売上'], recomputed: [], archived: [], failed: [] });
    expect(await book.stale()).toEqual([]);
    expect((await book.events('artifact.stale')).length).toBe(events);
    // It knows what it was made from: later edits are noticed.
    expect((await book.edit('売上', [{ __svc_row_id: 1, 金額: 8 }])).stale).toEqual(['合計', '店別']);
  });

  it('runs tables that were stale then, or whose transform is another now, and those behind them', async () => {
    const book = await makeChain();
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 200 }]);
    const stale = await book.commit();
    await book.run('店別');
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 300 }]);
    expect(await book.restore(stale)).toEqual({
      restored: ['合計', '売上', '店別'],
      recomputed: ['店別', '合計'],
      archived: [],
      failed: [],
    });
    expect(await book.read('合計')).toMatchObject([{ 計: 230 }]);
    const fresh = await book.commit();
    await book.create({ name: '合計', template: 'SELECT count(*) AS 件数 FROM {{ s }}', args: { s: '店別' } });
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 300 }]);
    expect(await book.restore(fresh)).toMatchObject({ recomputed: ['合計'] });
    expect(await book.read('合計')).toMatchObject([{ 件数: 2 }]);
    expect(await book.stale()).toEqual([]);
  });

  it('lists what could not be run, leaves later tables archived, and brings deleted transforms back', async () => {
    const book = await makeChain();
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 200 }]);
    const snapshot = await book.commit();
    await book.create({ name: '後', template: 'SELECT sum(金額)::BIGINT AS 計 FROM {{ d }}', args: { d: '売上' } });
    ok(await book.tryRemove('合計'));
    await book.run('店別');
    await store.api.sql.query("UPDATE transforms SET template = 'SELECT 店名 FROM {{ d }}' WHERE workbook_id = $1 AND name = '店別'", [
      book.id,
    ]);
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 300 }]);
    const answer = await book.restore(snapshot);
    expect(answer).toMatchObject({ recomputed: [], archived: ['後'] });
    expect(answer.failed).toMatchObject([{ name: '店別', error: expect.stringContaining('店名') }]);
    expect(await book.stale()).toEqual(expect.arrayContaining(['合計', '店別']));
    expect(await book.read('合計')).toMatchObject([{ 計: 130 }]);
  });

  it('tells of views that they are to be made again', async () => {
    const book = await makeChain();
    await book.create({ name: '窓', template: 'SELECT sum(計)::BIGINT AS 計 FROM {{ s }}', args: { s: '店別' }, materialize: 'view' });
    const snapshot = await book.commit();
    await book.edit('売上', [{ __svc_row_id: 1, 金額: 200 }]);
    await book.run('店別');
    expect(await book.read('窓')).toMatchObject([{ 計: 230 }]);
    expect(await book.restore(snapshot)).toMatchObject({ recomputed: [], failed: [] });
    expect(await book.read('窓')).toMatchObject([{ 計: 130 }]);
  });
});
