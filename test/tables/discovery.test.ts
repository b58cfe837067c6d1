import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';

let api: TestApi;
let owner: Person;
let stranger: Person;
let workbookId: string;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  [owner, stranger] = [await api.signUp(), await api.signUp()];
  workbookId = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '決算' } })).id;
  const make = (name: string, columns: { name: string; type?: string }[]) =>
    owner.client.POST('/api/v1/workbooks/{workbook_id}/tables', { params: { path: { workbook_id: workbookId } }, body: { name, columns } });
  ok(await make('月次売上明細', [{ name: '品目' }, { name: '金額', type: 'DOUBLE' }, { name: '日付', type: 'DATE' }]));
  ok(await make('仕入', [{ name: '売上原価', type: 'BIGINT' }]));
  ok(await make('100%_odd\\name', [{ name: 'x' }]));
  const rows = Array.from({ length: 100 }, (_, i) => ({
    品目: i % 4 === 0 ? null : `品${i % 3}`,
    金額: i,
    日付: `2024-01-${String((i % 28) + 1).padStart(2, '0')}`,
  }));
  ok(
    await owner.client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
      params: { path: { workbook_id: workbookId, name: '月次売上明細' } },
      body: { expected_version: 1, rows },
    }),
  );
});
afterAll(() => api.stop());

describe('a workbook', () => {
  it('counts its active tables, in lists and by itself', async () => {
    const path = { workbook_id: workbookId };
    const counted = async () => ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}', { params: { path } })).counts.tables;
    expect(await counted()).toBe(3);
    const artifact = { params: { path: { ...path, name: '仕入' } } };
    ok(await owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/archive', artifact));
    expect(await counted()).toBe(2);
    ok(await owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/unarchive', artifact));
    const { workbooks } = ok(await owner.client.GET('/api/v1/me/workbooks'));
    expect(workbooks.find((workbook) => workbook.id === workbookId)?.counts).toEqual({ tables: 3, sources: 0, sheets: 0, charts: 0 });
  });
});

const search = async (who: Person, q: string, query: Record<string, unknown> = {}) =>
  ok(await who.client.GET('/api/v1/search', { params: { query: { q, ...query } } }));

describe('search', () => {
  it('finds Japanese substrings of names before columns', async () => {
    const { results } = await search(owner, '売上');
    expect(results.map((hit) => [hit.name, hit.matched, hit.columns])).toEqual([
      ['月次売上明細', ['name'], []],
      ['仕入', ['column'], ['売上原価']],
    ]);
  });

  it.each(['', '   ', '\u3000'])('gives an empty list for %j', async (q) => {
    expect(await search(owner, q)).toEqual({ results: [], next_cursor: null });
  });

  it('takes wildcards literally', async () => {
    expect((await search(owner, '%')).results.map((hit) => hit.name)).toEqual(['100%_odd\\name']);
    expect((await search(owner, '_odd\\')).results.length).toBe(1);
    expect((await search(owner, '____')).results).toEqual([]);
  });

  it('shows nothing of others', async () => {
    expect((await search(stranger, '売上')).results).toEqual([]);
    expect(ok(await stranger.client.GET('/api/v1/me/data')).artifacts).toEqual([]);
  });

  it('pages without repeating', async () => {
    const first = await search(owner, '売上', { limit: 1 });
    const second = await search(owner, '売上', { limit: 1, cursor: first.next_cursor });
    expect([...first.results, ...second.results].map((hit) => hit.name)).toEqual(['月次売上明細', '仕入']);
    expect(second.next_cursor).toBeNull();
  });
});

describe('me/data', () => {
  it('lists every artifact by workbook and name, page by page', async () => {
    const names: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = ok(await owner.client.GET('/api/v1/me/data', { params: { query: { limit: 2, cursor } } }));
      names.push(...page.artifacts.map((artifact) => artifact.name));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(names.sort()).toEqual(['100%_odd\\name', '仕入', '月次売上明細'].sort());
  });
});

describe('profile', () => {
  it('tells nulls, distinct values, extremes, mean, top values and a histogram', async () => {
    const profile = ok(
      await owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/profile', {
        params: { path: { workbook_id: workbookId, name: '月次売上明細' } },
      }),
    );
    expect(profile.row_count).toBe(100);
    const [item, amount, date] = profile.columns;
    expect(item).toMatchObject({ null_count: 25, null_share: 0.25, distinct: 3, min: '品0', max: '品2', mean: null, histogram: [] });
    expect(item?.top_values.reduce((sum, top) => sum + top.count, 0)).toBe(75);
    expect(amount).toMatchObject({ null_count: 0, distinct: 100, min: 0, max: 99, mean: 49.5 });
    expect(amount?.histogram.length).toBe(20);
    expect(amount?.histogram.reduce((sum, bin) => sum + bin.count, 0)).toBe(100);
    expect(date).toMatchObject({ min: '2024-01-01', max: '2024-01-28', distinct: 28 });
    expect(date?.histogram.reduce((sum, bin) => sum + bin.count, 0)).toBe(100);
  });

  it('of an empty table has no figures to show', async () => {
    const profile = ok(
      await owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/profile', {
        params: { path: { workbook_id: workbookId, name: '仕入' } },
      }),
    );
    expect(profile.columns).toEqual([
      {
        name: '売上原価',
        type: 'BIGINT',
        masked: false,
        null_count: 0,
        null_share: 0,
        distinct: 0,
        min: null,
        max: null,
        mean: null,
        top_values: [],
        histogram: [],
      },
    ]);
  });
});
