import { buffer } from 'node:stream/consumers';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import { seeTable } from '../../core/table/visibleTable.ts';
import type { components } from '../../schema/contract.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import { streamWideRows } from '../../store/tables/streamWideRows.ts';
import { readWideRows } from '../../store/tables/wideRows.ts';
import { ok, refused } from '../setup/api.ts';
import { openTestStore } from './store.ts';
import { type DrivenTable, driveTable } from './tableDriver.ts';

const store = await openTestStore();
const { api, owner, workbook } = store;
afterAll(() => store.stop());

/** Past the API, which makes tables of 200 columns at most: wider ones come from files. */
async function makeTable(name: string, columns: { name: string; type: string }[]): Promise<{ table: DrivenTable; id: string }> {
  const id = await store.makeTable(name, columns);
  return { table: driveTable(owner, workbook.id, name), id };
}

const inWorkbook = { workbook_id: workbook.id };
const base = '/api/v1/workbooks/{workbook_id}' as const;

type Query = Record<string, string | number>;

function fetchRows({ path }: DrivenTable, query: Query, accept = 'application/json'): Promise<Response> {
  const search = new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]));
  return api.fetch(`/api/v1/workbooks/${path.workbook_id}/tables/${path.name}/rows?${search}`, {
    token: owner.session,
    headers: { accept },
  });
}

const countChanges = ({ inserted_count, updated_count, deleted_count }: components['schemas']['TableDiff']) => ({
  inserted: inserted_count,
  updated: updated_count,
  deleted: deleted_count,
});

type QueryResult = components['schemas']['QueryResult'];

const runQuery = (sql: string) => owner.client.POST(`${base}/query`, { params: { path: inWorkbook }, body: { sql } });

/** Every column as Arrow has it: its type, and its values as text. */
async function readArrow(table: DrivenTable, query: Query): Promise<Record<string, [type: string, ...values: string[]]>> {
  const answer = await fetchRows(table, query, 'application/vnd.apache.arrow.stream');
  expect(answer.status).toBe(200);
  const arrow = tableFromIPC(Buffer.from(await answer.arrayBuffer()));
  return Object.fromEntries(
    arrow.schema.fields.map(({ name, type }, i) => [name, [String(type), ...[...(arrow.getChildAt(i) ?? [])].map(String)]]),
  );
}

const compact = (id: string) => compactTable(store.services, id, { heartbeat() {} }, { ...compactionLimits, tail: 0, deltaShare: -1 });

/** Values of each type, plain ones and odd ones. */
const kinds: [type: string, values: unknown[]][] = [
  ['BIGINT', [7, -1, '9223372036854775807', null]],
  ['VARCHAR', ['text', '', '改行\n"と引用', null]],
  ['DOUBLE', [0.1, -2.5e300, 1e21, null]],
  ['DECIMAL(18,2)', ['12.30', '-0.05', '0', null]],
  ['DECIMAL(38,10)', ['1234567890123456789012345678.0123456789', '-1', '0.5', null]],
  ['BOOLEAN', [true, false, true, null]],
  ['DATE', ['2024-02-29', '0001-01-01', '9999-12-31', null]],
  ['TIMESTAMP', ['2024-02-29T12:34:56.789', '1969-12-31T23:59:59', '2024-01-01T00:00:00', null]],
  ['TIME', ['12:34:56', '00:00:00.000001', '23:59:59.5', null]],
  ['JSON', [{ a: [1, 'x'] }, [], 'text', null]],
];

describe('wide tables: more columns than an engine is asked for at once', () => {
  const width = 520;
  const columns = Array.from({ length: width }, (_, i) => ({ name: i === 0 ? 'n' : `列 ${i}`, type: kinds[i % kinds.length]?.[0] ?? '' }));
  const makeRow = (n: number) =>
    Object.fromEntries(columns.map(({ name }, i) => [name, i === 0 ? n : kinds[i % kinds.length]?.[1][(n + i) % 4]]));
  /** Few enough columns at a time that they are read as those of other tables are. */
  const slices = (names: string[]) => [0, 300].map((first) => names.slice(first, first + 300).filter((name) => name !== 'n'));
  let table: DrivenTable;
  let id: string;

  beforeAll(async () => {
    ({ table, id } = await makeTable('wide', columns));
    ok(await table.upsert(Array.from({ length: 40 }, (_, n) => makeRow(n))));
    ok(await table.upsert([{ __svc_row_id: 3, n: 1003, '列 1': '変更' }, { __svc_row_id: 5, n: null }, makeRow(500)]));
    ok(await table.remove([2, 9]));
    ok(await table.add({ column: '追加', type: 'BIGINT', default: 7 }));
    ok(await table.rename('列 2', '改名'));
    ok(await table.upsert([{ __svc_row_id: 7, 追加: null }]));
  });

  it('gives nothing of a column that is masked', async () => {
    const [at] = await listTablesById(store.services.db.pool, [id]);
    const read = async (masked: boolean) => {
      const hidden = (at as TableAt).columns.filter(({ name }) => masked && name === '列 1');
      const visible = seeTable(at as TableAt, new Map(hidden.map(({ id }) => [id, 'mask'])));
      const rows = await readWideRows(store.services, { visible, columns: visible.columns }, [3, 4]);
      const arrow = await buffer(await streamWideRows(store.services, { visible, columns: visible.columns }, [3, 4], 'arrow'));
      return {
        cells: rows.map(({ json }) => JSON.parse(json)['列 1']),
        inJson: rows[0]?.json.includes('変更'),
        inArrow: arrow.includes('変更'),
      };
    };
    expect(await read(false)).toMatchObject({ cells: ['変更', expect.anything()], inJson: true, inArrow: true });
    expect(await read(true)).toEqual({ cells: [null, null], inJson: false, inArrow: false });
  });

  const queries: Query[] = [
    { limit: 100 },
    { limit: 7, offset: 20 },
    { limit: 10, sort: '列 11,n', offset: 5 },
    { limit: 10, filter: 'n > 10 AND "列 7" IS NOT NULL', sort: '列 11,n:desc' },
    { limit: 10, at_version: 3, sort: 'n' },
  ];

  it.each(queries)('gives the rows that its parts give: %j', async (query) => {
    const whole = await table.read(query);
    const parts = await Promise.all(
      slices(whole.columns.map(({ name }) => name)).map((names) => table.read({ ...query, columns: ['n', ...names] })),
    );
    expect(whole.rows.length).toBeGreaterThan(4);
    expect(whole.rows).toEqual(whole.rows.map((_, i) => Object.assign({}, ...parts.map(({ rows }) => rows[i]))));
    expect(Object.keys(whole.rows[0] ?? {})).toEqual(whole.columns.map(({ name }) => name));
    expect(parts.map(({ row_count }) => row_count)).toEqual(parts.map(() => whole.row_count));
    const lines = (await (await fetchRows(table, query, 'application/x-ndjson')).text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(whole.rows);
  });

  it.each([queries[0], queries[3]] as Query[])('gives them as Arrow, of the same types: %j', async (query) => {
    const whole = await readArrow(table, query);
    const parts = await Promise.all(
      slices(Object.keys(whole)).map((names) => readArrow(table, { ...query, columns: ['n', ...names].join(',') })),
    );
    expect(whole).toEqual(Object.assign({}, ...parts));
  });

  it('is profiled column by column, whatever stands beside it', async () => {
    const { rows, columns: shown } = await table.read({ limit: 100 });
    const profile = ok(await owner.client.GET(`${base}/tables/{name}/profile`, { params: { path: table.path } }));
    const names = shown.map(({ name }) => name).filter((name) => name !== '__svc_row_id');
    expect(profile.columns.map(({ name }) => name)).toEqual(names);
    for (const { name, null_count, distinct, top_values, type } of profile.columns) {
      const counts = new Map<string, number>();
      for (const row of rows) counts.set(JSON.stringify(row[name]), (counts.get(JSON.stringify(row[name])) ?? 0) + 1);
      const nulls = counts.get('null') ?? 0;
      counts.delete('null');
      expect([name, type, null_count, distinct]).toEqual([name, type, nulls, counts.size]);
      for (const { value, count } of top_values) expect([name, value, count]).toEqual([name, value, counts.get(JSON.stringify(value))]);
      expect([name, top_values.map(({ count }) => count)]).toEqual([name, [...counts.values()].sort((a, b) => b - a).slice(0, 10)]);
    }
  });

  it('is paged through, in row order and in others', async () => {
    for (const query of [{}, { sort: 'n:desc' }, { filter: 'n >= 0' }] as Query[]) {
      const all = await table.read({ limit: 100, ...query });
      const ids: number[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = (await (await fetchRows(table, { limit: 9, ...query, ...(cursor ? { cursor } : {}) })).json()) as {
          rows: { __svc_row_id: number }[];
          next_cursor: string | null;
        };
        ids.push(...page.rows.map((row) => row.__svc_row_id));
        cursor = page.next_cursor;
      }
      expect(ids).toEqual(all.rows.map((row) => row.__svc_row_id));
    }
  });

  it('is the same after a compaction and a retype, and tells what changed', async () => {
    const before = await table.read({ limit: 100 });
    expect(await compact(id)).toBe('compacted');
    expect(await table.read({ limit: 100 })).toEqual(before);
    ok(await table.retype('n', 'VARCHAR'));
    const after = await table.read({ limit: 100 });
    expect(after.rows).toEqual(before.rows.map((row) => ({ ...row, n: row.n === null ? null : String(row.n) })));
    const changes = ok(await table.diff(2, 4));
    expect(countChanges(changes)).toEqual({ inserted: 1, updated: 2, deleted: 2 });
    expect(changes.updated[0]).toMatchObject({ row_id: 3, cells: [{ column: 'n', old: 2, new: 1003 }, { column: '列 1' }] });
    expect(changes.deleted.map((row) => row.__svc_row_id)).toEqual([2, 9]);
    expect(changes.inserted).toEqual([expect.objectContaining({ n: 500 })]);
  });
});

describe('wide tables: as wide as a sheet can be', () => {
  const width = 16_384;
  const names = Array.from({ length: width }, (_, i) => `c${i + 1}`);
  let table: DrivenTable;
  let id: string;
  let snapshot: string;

  beforeAll(async () => {
    const columns = names.map((name, i) => ({ name, type: i % 2 === 0 ? 'BIGINT' : 'VARCHAR' }));
    ({ table, id } = await makeTable('widest', columns));
    const row = (n: number) => Object.fromEntries(names.map((name, i) => [name, i % 2 === 0 ? n * 100_000 + i : `${n} ${i}`]));
    ok(await table.upsert([row(1), row(2), row(3), row(4)]));
    snapshot = ok(await owner.client.POST(`${base}/snapshots`, { params: { path: inWorkbook }, body: { summary: 'then' } })).id;
  });

  const read = async (query: Query) => (await (await fetchRows(table, query)).json()) as Awaited<ReturnType<DrivenTable['read']>>;

  it('is read whole: page, order, filter, version, every format', async () => {
    const whole = await read({ limit: 10 });
    expect(whole.rows.map((row) => [row.c1, row.c2, row.c16384, Object.keys(row).length])).toEqual(
      [1, 2, 3, 4].map((n) => [n * 100_000, `${n} 1`, `${n} 16383`, width + 1]),
    );
    expect((await read({ limit: 2, sort: 'c16383:desc' })).rows).toEqual([whole.rows[3], whole.rows[2]]);
    expect((await read({ limit: 2, filter: "c16384 LIKE '3%'" })).rows).toEqual([whole.rows[2]]);
    expect((await read({ limit: 1, at_version: 2, offset: 1 })).rows).toEqual([whole.rows[1]]);
    const arrow = await readArrow(table, { limit: 10, sort: 'c1:desc' });
    expect([Object.keys(arrow).length, arrow.c1, arrow.c16384]).toEqual([
      width + 1,
      ['Int64', '400000', '300000', '200000', '100000'],
      ['Utf8', '4 16383', '3 16383', '2 16383', '1 16383'],
    ]);
  });

  it('is queried by naming columns, and told so where all are meant', async () => {
    expect((ok(await runQuery('SELECT count(*) AS n, max(c3) AS m FROM widest')) as QueryResult).rows).toEqual([{ n: 4, m: 400_002 }]);
    expect((ok(await runQuery("SELECT c16384 FROM widest WHERE c2 = '2 1'")) as QueryResult).rows).toEqual([{ c16384: '2 16383' }]);
    const problem = refused(await runQuery('SELECT * FROM widest LIMIT 1'), 400, 'query-too-large');
    expect(problem.detail).toMatch(/^16384 columns of widest/);
    expect(problem.suggested_fix).toMatch(/Name the columns/);
    const filter = await owner.client.GET(`${base}/tables/{name}/rows`, {
      params: { path: table.path, query: { filter: 'COLUMNS(*) IS NOT NULL' } },
    });
    expect(refused(filter, 400, 'query-too-large').detail).toMatch(/^16384 columns of widest/);
  });

  it('is described, read by ranges, edited, compared, retyped, folded and restored', async () => {
    const schema = await api.fetch(`/api/v1/workbooks/${workbook.id}/tables/widest/schema`, { token: owner.session });
    expect(schema.status).toBe(200);
    const block = ok(await table.range('A2:XFD3')).values;
    expect([block.length, block[1]?.length, block[1]?.[16_383]]).toEqual([2, width, '2 16383']);
    const edit = ok(await table.upsert([{ __svc_row_id: 2, c16384: 'x' }, { c1: 5 }]));
    ok(await table.remove([1]));
    expect(countChanges(ok(await table.diff(2)))).toEqual({ inserted: 1, updated: 1, deleted: 1 });
    expect(ok(await table.history(2)).changes[0]?.cells).toEqual([{ column: 'c16384', old: '2 16383', new: 'x' }]);
    ok(await table.retype('c3', 'VARCHAR'));
    ok(await table.drop('c4'));
    expect(await compact(id)).not.toBe('moved');
    expect((await read({ limit: 10 })).rows.map((row) => [row.c1, row.c3, row.c16384, 'c4' in row])).toEqual([
      [200_000, '200002', 'x', false],
      [300_000, '300002', '3 16383', false],
      [400_000, '400002', '4 16383', false],
      [5, null, null, false],
    ]);
    expect(edit.updated).toBe(1);
    const path = { ...inWorkbook, snapshot_id: snapshot };
    ok(await owner.client.POST(`${base}/snapshots/{snapshot_id}/restore`, { params: { path } }));
    expect((await read({ limit: 10, filter: 'c3 IS NOT NULL' })).rows.map((row) => [row.c1, row.c3, row.c4])).toEqual(
      [1, 2, 3, 4].map((n) => [n * 100_000, n * 100_000 + 2, `${n} 3`]),
    );
  });
});

describe('a wide table that was exported', () => {
  it('is merged by cell', async () => {
    const names = Array.from({ length: 510 }, (_, i) => `c${i + 1}`);
    const { table } = await makeTable(
      'returned',
      names.map((name) => ({ name, type: 'VARCHAR' })),
    );
    ok(
      await table.upsert(['x', 'y', 'z'].map((text) => Object.fromEntries(names.map((name, i) => [name, i % 7 === 3 ? null : text + i])))),
    );
    const send = (path: string, body: string | FormData) =>
      api.fetch(`/api/v1/workbooks/${workbook.id}/${path}`, {
        method: 'POST',
        token: owner.session,
        headers: typeof body === 'string' ? { 'content-type': 'application/json' } : {},
        body,
      });
    const exported = await send('export', JSON.stringify({ tables: ['returned'], format: 'csv', record_branch: true }));
    const form = new FormData();
    form.append('branch_id', exported.headers.get('x-svc-branch-id') ?? '');
    form.append('file', new Blob([(await exported.text()).replace(',y501,', ',edited,').replace(/\n[^\n]*z0[^\n]*/, '')]), 'returned.csv');
    const merged = await send('tables/returned/merge', form);
    expect(await merged.json()).toMatchObject({ updated: 1, inserted: 0, deleted: 1, unchanged: 1, conflicts: [] });
    expect((await table.read({ columns: 'c1,c502' })).rows).toMatchObject([
      { c1: 'x0', c502: 'x501' },
      { c1: 'y0', c502: 'edited' },
    ]);
  });
});
