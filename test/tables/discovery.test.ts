import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeId } from '../../store/services.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { crowdTables } from '../setup/crowd.ts';
import { makeTable } from '../setup/tables.ts';

let api: TestApi;
let owner: Person;
let stranger: Person;
let workbookId: string;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  [owner, stranger] = [await api.signUp(), await api.signUp()];
  workbookId = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '決算' } })).id;
  const rows = Array.from({ length: 100 }, (_, i) => ({
    品目: i % 4 === 0 ? null : `品${i % 3}`,
    金額: i,
    日付: `2024-01-${String((i % 28) + 1).padStart(2, '0')}`,
  }));
  const columns = [{ name: '品目' }, { name: '金額', type: 'DOUBLE' }, { name: '日付', type: 'DATE' }];
  await makeTable(owner.client, workbookId, '月次売上明細', columns, rows);
  await makeTable(owner.client, workbookId, '仕入', [{ name: '売上原価', type: 'BIGINT' }]);
  await makeTable(owner.client, workbookId, '100%_odd\\name', [{ name: 'x' }]);
});
afterAll(() => api.stop());

describe('getWorkbook and listWorkbooks: counts of tables', () => {
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

describe('searchArtifacts', () => {
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

  it('finds what is written in other widths, and in either', async () => {
    const make = (name: string, column: string) => makeTable(owner.client, workbookId, name, [{ name: column }]);
    await make('ｶﾞｽ料金', '㈱会社');
    await make('ＡＢＣ表', 'か\u3099く');
    const found = async (q: string) => (await search(owner, q)).results.map((hit) => hit.name);
    for (const q of ['ｶﾞｽ', 'ガス', 'ガス料金 株', '(株)会社', '㈱']) expect(await found(q)).toEqual(['ｶﾞｽ料金']);
    await make('ΟΔΟΣ', 'İstanbul');
    for (const q of ['İstanbul', 'ΟΔΟΣ']) expect(await found(q)).toEqual(['ΟΔΟΣ']);
    for (const q of ['ＡＢＣ', 'abc', 'ＡＢＣ表', 'がく', 'か\u3099く']) expect(await found(q)).toEqual(['ＡＢＣ表']);
    for (const name of ['ｶﾞｽ料金', 'ＡＢＣ表', 'ΟΔΟΣ'])
      ok(
        await owner.client.DELETE('/api/v1/workbooks/{workbook_id}/tables/{name}', {
          params: { path: { workbook_id: workbookId, name }, query: { expected_version: 'null' } },
        }),
      );
  });

  it('reaches as far as the credential, and into no private workbook of others', async () => {
    const other = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '私' } }));
    const path = { workbook_id: other.id };
    await makeTable(owner.client, other.id, '売上極秘', [{ name: 'a' }]);
    const member = await api.signUp();
    ok(
      await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
        params: { path: { workspace_id: other.workspace_id } },
        body: { email: member.email, role: 'viewer' },
      }),
    );
    const names = async (who: Pick<Person, 'client'>) => [
      (ok(await who.client.GET('/api/v1/search', { params: { query: { q: '極秘' } } })) as { results: { name: string }[] }).results.map(
        (hit) => hit.name,
      ),
      ok(await who.client.GET('/api/v1/me/data')).artifacts.filter(({ name }) => name === '売上極秘').length,
    ];
    expect(await names(member)).toEqual([['売上極秘'], 1]);
    ok(await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', { params: { path }, body: { visibility: 'private' } }));
    expect(await names(member)).toEqual([[], 0]);
    expect(await names(owner)).toEqual([['売上極秘'], 1]);
    const pinned = async (resource: string) => ({
      client: api.as((await mintToken(owner.client, { scopes: ['workbooks:read'], resource })).text),
    });
    expect(await names(await pinned(`workbook:${other.id}`))).toEqual([['売上極秘'], 1]);
    expect(await names(await pinned(`workbook:${workbookId}`))).toEqual([[], 0]);
    ok(await owner.client.DELETE('/api/v1/workbooks/{workbook_id}', { params: { path } }));
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

describe('listMyData', () => {
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

describe('sheets and charts', () => {
  it('are listed and found by name and title, as far as the credential reaches', async () => {
    const path = { workbook_id: workbookId };
    const sheet = { params: { path: { ...path, name: '月報' } }, body: { title: '売上の月報', spec: { blocks: [] } } };
    ok(await owner.client.PUT('/api/v1/workbooks/{workbook_id}/sheets/{name}', sheet));
    await api.sql.query(
      `INSERT INTO charts (id, workbook_id, account_id, name, title, config, created_at, updated_at)
       SELECT $1, id, account_id, '円グラフ', '構成', '{}', now(), now() FROM workbooks WHERE id = $2`,
      [makeId('cht'), workbookId],
    );
    const { artifacts } = ok(await owner.client.GET('/api/v1/me/data', { params: { query: { limit: 3 } } }));
    const rest = ok(await owner.client.GET('/api/v1/me/data', { params: { query: { limit: 100 } } })).artifacts;
    expect(rest.slice(0, 3)).toEqual(artifacts);
    expect(rest.map(({ name, type, description }) => [name, type, description])).toEqual(
      expect.arrayContaining([
        ['月報', 'sheet', '売上の月報'],
        ['円グラフ', 'chart', '構成'],
        ['月次売上明細', 'table', null],
      ]),
    );
    const { results } = await search(owner, '売上');
    expect(results.map(({ name, type, matched }) => [name, type, matched])).toEqual(
      expect.arrayContaining([
        ['月次売上明細', 'table', ['name']],
        ['月報', 'sheet', ['description']],
      ]),
    );
    expect((await search(owner, '円グラフ')).results).toMatchObject([
      { name: '円グラフ', type: 'chart', workbook_id: workbookId, workbook_title: '決算', description: '構成', source: null, columns: [] },
    ]);
    expect((await search(stranger, '円グラフ')).results).toEqual([]);
    expect(ok(await stranger.client.GET('/api/v1/me/data')).artifacts).toEqual([]);
  });
});

describe('profileTable', () => {
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

  const profileOf = async (name: string, type: string, values: unknown[]) => {
    const path = { workbook_id: workbookId, name };
    await makeTable(
      owner.client,
      workbookId,
      name,
      [{ name: 'v', type }],
      values.map((v) => ({ v })),
    );
    const { columns } = ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/profile', { params: { path } }));
    return columns[0] as (typeof columns)[number];
  };

  it.each([
    ['numbers as far apart as can be', 'DOUBLE', [1.7e308, -1.7e308, 0], -1.7e308, 1.7e308],
    ['numbers as near as can be', 'DOUBLE', [0, 5e-324], 0, 5e-324],
    ['the largest whole numbers', 'BIGINT', ['-9223372036854775808', '9223372036854775807'], -(2 ** 63), 2 ** 63],
    ['the largest decimals', 'DECIMAL(38,0)', ['-9'.padEnd(39, '9'), '9'.repeat(38)], -1e38, 1e38],
    [
      'moments within a second',
      'TIMESTAMP',
      ['2024-01-01T00:00:00.1', '2024-01-01T00:00:00.2'],
      '2024-01-01T00:00:00.100000',
      '2024-01-01T00:00:00.200000',
    ],
    ['all of time', 'DATE', ['0001-01-01', '9999-12-31'], '0001-01-01T00:00:00', '9999-12-31T00:00:00'],
    [
      'the last moment of all',
      'TIMESTAMP',
      ['0001-01-01T00:00:00', '9999-12-31T23:59:59.999999'],
      '0001-01-01T00:00:00',
      '9999-12-31T23:59:59.999968',
    ],
    ['times of day', 'TIME', ['00:00:00', '23:59:59.5'], '00:00:00', '23:59:59.500000'],
  ])('counts every value once in bins that can be told apart: %s', async (name, type, values, from, to) => {
    const { histogram } = await profileOf(name, type, values);
    expect(histogram.length).toBe(20);
    expect(histogram.reduce((sum, bin) => sum + bin.count, 0)).toBe(values.length);
    expect([histogram[0]?.from, histogram[0]?.count, histogram.at(-1)?.to, histogram.at(-1)?.count]).toEqual([from, 1, to, 1]);
    for (const [i, bin] of histogram.entries()) if (i > 0) expect(bin.from).toEqual(histogram[i - 1]?.to);
  });

  it('knows columns of one value, and of none', async () => {
    const one = await profileOf('one value', 'DATE', ['2024-04-01', '2024-04-01', null]);
    expect(one).toMatchObject({ distinct: 1, histogram: [{ from: '2024-04-01T00:00:00', to: '2024-04-01T00:00:00', count: 2 }] });
    const none = await profileOf('no value', 'BIGINT', [null, null]);
    expect(none).toMatchObject({ null_share: 1, distinct: 0, min: null, max: null, mean: null, top_values: [], histogram: [] });
    const long = await profileOf('long', 'VARCHAR', ['x'.repeat(5000), 'y']);
    expect(long).toMatchObject({ min: `${'x'.repeat(1000)}…`, max: 'y', distinct: 2 });
    expect(long.top_values.map(({ value }) => value)).toEqual([`${'x'.repeat(1000)}…`, 'y']);
    const json = await profileOf('json', 'JSON', [{ a: '👨‍👩‍👧‍👦' }, { a: '👨‍👩‍👧‍👦' }, [1]]);
    expect(json).toMatchObject({
      distinct: 2,
      min: null,
      top_values: [{ value: { a: '👨‍👩‍👧‍👦' }, count: 2 }, { count: 1 }],
      histogram: [],
    });
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

describe('searchArtifacts and listMyData: more tables than are looked at together', () => {
  const many = 4_500;

  it('are all searched, the best comes first wherever it lay, and pages go through all of them', async () => {
    const person = await api.signUp();
    const { id } = ok(await person.client.POST('/api/v1/workbooks', { body: { title: 'crowded' } }));
    const make = (name: string, column: string) => makeTable(person.client, id, name, [{ name: column }]);
    // In the order in which the database gives them, the one that fits best is the last.
    await make('first', 'sought');
    await make('ｚｚ Sought', 'other');
    await crowdTables(api.sql, { workbookId: id, table: 'first' }, { count: many, name: 'many', column: 'sought' });

    const names: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await search(person, 'SOUGHT', { limit: 1_000, ...(cursor ? { cursor } : {}) });
      names.push(...page.results.map((hit) => hit.name));
      cursor = page.next_cursor;
    } while (cursor);
    expect(names[0]).toBe('ｚｚ Sought');
    expect(names.length).toBe(many + 2);
    expect(new Set(names).size).toBe(many + 2);
    expect((await search(person, 'sought many4321')).results.map((hit) => hit.name)).toEqual(['many4321']);
  });
});
