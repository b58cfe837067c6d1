import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { hideColumns } from '../setup/governance.ts';
import type { TestStore } from '../tables/store.ts';
import { usePythonStore } from './pythonStore.ts';
import { makeBook } from './world.ts';

const found = await usePythonStore();
const store = found as TestStore;

const sales = [
  { 店: '東京', 月: '04', 金額: 100 },
  { 店: '東京', 月: '05', 金額: 50 },
  { 店: '大阪', 月: '04', 金額: 30 },
];

async function makeSales() {
  const book = await makeBook(store);
  await book.table('売上', [{ name: '店' }, { name: '月' }, { name: '金額', type: 'BIGINT' }], sales);
  return book;
}

const byShop = {
  name: '店別',
  language: 'python' as const,
  template: 'def transform(detail):\n    return detail.groupby("店", as_index=False).agg(合計=("金額", "sum"))',
  args: { detail: '売上' },
  key: ['店'],
};

describe.skipIf(!found)('a transform in Python', () => {
  it('makes a derived table, and says what it did', async () => {
    const book = await makeSales();
    const { transform, output, op_id } = await book.create(byShop);
    expect(output).toEqual({ name: '店別', edit_version: 1, row_count: 2 });
    expect(transform).toMatchObject({ ...byShop, output: '店別', materialize: 'table', revision: 1, last_error: null });
    expect(transform.freshness).toEqual({ stale: false, stale_since: null });
    expect(await book.read('店別')).toEqual([
      { __svc_row_id: 1, 店: '大阪', 合計: 30 },
      { __svc_row_id: 2, 店: '東京', 合計: 150 },
    ]);
    expect(await book.getTable('店別')).toMatchObject({
      layer: 'derived',
      transform: { language: 'python', inputs: ['売上'], key: ['店'] },
    });
    expect(await book.list()).toEqual([transform]);
    expect((await book.ops())[0]).toMatchObject({ op_id, kind: 'transform.run', table: '店別', undoable: false });
  });

  it('keeps row ids by key and by content, and makes no version of the same content', async () => {
    const book = await makeSales();
    await book.create(byShop);
    await book.create({ ...byShop, name: '月', key: null, template: 'def transform(detail):\n    return detail[["月"]]' });
    expect((await book.run('店別')).output?.edit_version).toBe(1);
    await book.edit('売上', [
      { 店: '京都', 月: '03', 金額: 7 },
      { __svc_row_id: 1, 金額: 101 },
    ]);
    expect((await book.run('店別')).output).toEqual({ name: '店別', edit_version: 2, row_count: 3 });
    await book.run('月');
    expect(await book.read('店別')).toEqual([
      { __svc_row_id: 1, 店: '大阪', 合計: 30 },
      { __svc_row_id: 2, 店: '東京', 合計: 151 },
      { __svc_row_id: 3, 店: '京都', 合計: 7 },
    ]);
    expect((await book.read('月')).map((row) => `${row.__svc_row_id} ${row.月}`)).toEqual(['1 04', '2 05', '3 04', '4 03']);
  });

  it('is stale after an edit of any column, is run again with what depends on it, and is part of the lineage', async () => {
    const book = await makeSales();
    await book.create(byShop);
    await book.create({ name: '計', template: 'SELECT sum(合計) AS 計 FROM {{ s }}', args: { s: '店別' } });
    expect((await book.edit('売上', [{ __svc_row_id: 1, 月: '06' }])).stale).toEqual(['店別', '計']);
    const path = { workbook_id: book.id };
    const recomputed = ok(await store.owner.client.POST('/api/v1/workbooks/{workbook_id}/recompute', { params: { path } }));
    expect(recomputed).toMatchObject({ recomputed: [{ name: '店別', edit_version: 1 }, { name: '計' }], failed: [] });
    expect((await book.list()).map(({ freshness }) => freshness.stale)).toEqual([false, false]);
    await book.edit('売上', [{ 店: '京都', 月: '04', 金額: 1 }]);
    expect(await book.run('店別')).toMatchObject({ output: { edit_version: 2 }, recomputed: [{ name: '計', edit_version: 2 }] });
    expect(await book.read('計')).toEqual([{ __svc_row_id: 2, 計: 181 }]);
    expect(await book.addColumn('売上', '備考')).toMatchObject({ stale: ['店別', '計'], broken: [] });
  });

  it('replaces one in SQL under its name, is refused as a cycle, and is deleted with its output', async () => {
    const book = await makeSales();
    await book.create({ ...byShop, language: 'sql', template: 'SELECT 店, sum(金額) AS 合計 FROM {{ detail }} GROUP BY 店' });
    expect(await book.create(byShop)).toMatchObject({ transform: { revision: 2, language: 'python' }, output: { row_count: 2 } });
    await book.create({ ...byShop, name: 'b', key: null, args: { a: '店別' }, template: 'def transform(a): return a' });
    const cycle = { ...byShop, args: { detail: 'b' } };
    expect(refused(await book.tryCreate(cycle), 409, 'cycle').errors).toEqual([{ pointer: '/args', detail: 'b → 店別 → b' }]);
    refused(await book.tryRemove('店別'), 409, 'in-use');
    ok(await book.tryRemove('b'));
    ok(await book.tryRemove('店別'));
    expect(await book.list()).toEqual([]);
  });

  it('gives back a table of every type as it is, also to a second argument of the same table', async () => {
    const book = await makeBook(store);
    const types = ['VARCHAR', 'BIGINT', 'DOUBLE', 'DECIMAL(20,3)', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'TIME'];
    const columns = types.map((type, i) => ({ name: `c${i}`, type }));
    const full = {
      c0: '一',
      c1: '9007199254740993',
      c2: 1.5,
      c3: '12345678901234567.125',
      c4: true,
      c5: '2025-01-02',
      c6: '2025-01-02T03:04:05.678901',
      c7: '01:02:03',
    };
    await book.table('t', columns, [full, {}]);
    await book.create({
      name: 'u',
      language: 'python',
      args: { a: 't', b: 't' },
      template: 'def transform(a, b): return pd.concat([a, b])',
    });
    const [first, second] = (await book.read('t')).map(({ __svc_row_id, ...row }) => row);
    expect((await book.read('u')).map(({ __svc_row_id, ...row }) => row)).toEqual([first, second, first, second]);
    expect((await book.getTable('u')).columns.map(({ type }) => type)).toEqual((await book.getTable('t')).columns.map(({ type }) => type));
  });

  it('prints where nobody reads it, and sees no row ids', async () => {
    const book = await makeSales();
    const template =
      'def transform(detail):\n    for _ in range(5): print("x" * 10**6)\n    return pd.DataFrame({"c": [list(detail.columns)]})';
    await book.create({ ...byShop, template, key: null });
    expect(await book.read('店別')).toEqual([{ __svc_row_id: 1, c: ['店', '月', '金額'] }]);
  });

  it('is checked and stored without a run where that is wanted', async () => {
    const book = await makeSales();
    const bad = { ...byShop, run: false, template: 'def transform(detail:\n    return 1' };
    expect(refused(await book.tryCreate(bad), 400, 'query-failed').detail).toContain('line 1');
    refused(await book.tryCreate({ ...bad, template: 'def transform(other): return other' }), 400, 'query-failed');
    expect(await book.list()).toEqual([]);
    expect(await book.create({ ...byShop, run: false })).toMatchObject({ output: null, transform: { freshness: { stale: true } } });
    expect((await book.run('店別')).output?.row_count).toBe(2);
  });

  it('is refused to somebody from whom a column of its tables is hidden, whether it names it or not', async () => {
    const book = await makeSales();
    for (const effect of ['mask', 'deny'] as const) {
      await hideColumns(store.owner.client, book.id, '売上', { 月: effect });
      const { detail } = refused(await book.tryCreate({ ...byShop, run: false }), 403, 'insufficient-role');
      expect(String(detail).includes('月')).toBe(effect === 'mask');
    }
    expect(await book.list()).toEqual([]);
  });
});

const returns = (frame: string) => `def transform(d):\n    return ${frame}`;

/** Each is refused with words that say what to do, and changes nothing. */
const bad: [what: string, template: string, status: number, slug: string, said: string][] = [
  [
    'a parameter that args does not name',
    'def transform(d, e): return d',
    400,
    'query-failed',
    'parameter e, for which args names no table',
  ],
  ['an argument that is no parameter', 'def transform(): return 1', 400, 'query-failed', 'no parameter d, which args names'],
  ['a placeholder of SQL', 'def transform(d): return {{ d }}', 400, 'query-failed', 'TypeError'],
  ['a syntax error', 'def transform(d)\n    return d', 400, 'query-failed', 'line 1'],
  ['no function', 'x = 1', 400, 'query-failed', 'does not define the function transform'],
  ['an error, with its line', 'def transform(d):\n    return d["ない"]', 400, 'query-failed', 'KeyError was raised in line 2'],
  ['a loop without end', 'def transform(d):\n    while True: pass', 400, 'query-timeout', '10 seconds'],
  ['a fork', 'import os\ndef transform(d):\n    os.fork()', 400, 'query-failed', 'PermissionError was raised in line 3'],
  ['a thread', 'import threading\ndef transform(d):\n    threading.Thread(target=print).start()', 400, 'query-failed', 'thread'],
  ['too much memory', returns('pd.DataFrame({"n": np.ones(10**9)})'), 400, 'query-too-large', '256 MiB of memory'],
  ['a gigabyte that is printed', 'def transform(d):\n    while True: print("x" * 10**6)', 400, 'query-too-large', 'prints more than'],
  ['network', 'import socket\ndef transform(d):\n    socket.create_connection(("127.0.0.1", 80))', 400, 'query-failed', 'line 3'],
  ['a file', 'def transform(d):\n    open("/etc/passwd")', 400, 'query-failed', 'FileNotFoundError'],
  ['its own end', 'import os\ndef transform(d):\n    os._exit(0)', 400, 'query-failed', 'without returning a frame'],
  ['nothing returned', 'def transform(d): pass', 400, 'query-failed', 'returned None, not a pandas DataFrame'],
  ['a Series', returns('d["金額"]'), 400, 'query-failed', 'returned Series'],
  ['a list', returns('[1]'), 400, 'query-failed', 'returned list'],
  ['no columns', returns('pd.DataFrame()'), 400, 'query-failed', 'no columns'],
  ['too many rows', returns('pd.DataFrame({"n": np.zeros(5_000_001, "int8")})'), 400, 'query-too-large', '5000000 are allowed'],
  ['two columns of one name', returns('pd.DataFrame([[1, 2]], columns=["a", "a"])'), 400, 'query-failed', 'Two columns are named a'],
  ['names that differ in case', returns('pd.DataFrame({"a": [1], "A": [2]})'), 422, 'validation-failed', 'stands there twice'],
  ['names that are numbers', returns('pd.DataFrame([[1, 2]])'), 400, 'query-failed', 'The name of column 1 is 0, not text'],
  ['an empty name', returns('pd.DataFrame({"": [1]})'), 422, 'validation-failed', 'the name of column 1'],
  ['names of two levels', returns('pd.DataFrame({("a", "b"): [1]})'), 400, 'query-failed', "('a', 'b'), not text"],
  ['a name with NUL', returns('pd.DataFrame({"a\\0": [1]})'), 422, 'validation-failed', 'the name of column 1'],
  ['durations', returns('pd.DataFrame({"a": [pd.Timedelta("1d")]})'), 400, 'query-failed', 'total_seconds'],
  ['categories of durations', returns('pd.DataFrame({"a": pd.Categorical([pd.Timedelta("1d")])})'), 400, 'query-failed', 'timedelta'],
  ['periods', returns('pd.DataFrame({"a": pd.period_range("2025", periods=1)})'), 400, 'query-failed', 'period'],
  ['complex numbers', returns('pd.DataFrame({"a": [1j]})'), 400, 'query-failed', 'complex'],
  ['values of several types', returns('pd.DataFrame({"a": [1, "x"]})'), 400, 'query-failed', 'several types: int, str'],
  ['objects', returns('pd.DataFrame({"a": [object()]})'), 400, 'query-failed', 'object'],
  ['bytes', returns('pd.DataFrame({"a": [b"x"]})'), 400, 'query-failed', 'decode'],
  ['nested values that are no JSON', returns('pd.DataFrame({"a": [[{1, 2}]]})'), 400, 'query-failed', 'set is not a value of JSON'],
  ['text that is no Unicode', returns('pd.DataFrame({"a": ["\\ud800"]})'), 400, 'query-failed', 'column a'],
  ['whole numbers beyond every type', returns('pd.DataFrame({"a": [10**40]})'), 400, 'query-failed', 'column a'],
];

describe.skipIf(!found)('refused, with nothing changed:', () => {
  it('bad templates and bad frames', async () => {
    const book = await makeSales();
    const before = await book.ops();
    const refusals: [string, number, string][] = [];
    const texts: string[] = [];
    const tryOne = async ([what, template]: (typeof bad)[number]) => {
      const { error, response } = await book.tryCreate({ name: what, language: 'python', args: { d: '売上' }, template });
      const problem = error as unknown as { type: string; suggested_fix: string };
      refusals.push([what, response.status, problem?.type]);
      texts.push(`${what}: ${JSON.stringify(problem)}`);
    };
    // Some at a time: what takes long is to hand them over, not to run them.
    for (let at = 0; at < bad.length; at += 4) await Promise.all(bad.slice(at, at + 4).map(tryOne));
    const wanted = bad.map(([what, , status, slug]) => [what, status, `urn:svc:problem:${slug}`]);
    expect(refusals.sort()).toEqual(wanted.sort());
    for (const [what, , , , said] of bad) {
      const text = texts.find((each) => each.startsWith(`${what}: `));
      expect(text).toContain(JSON.stringify(said).slice(1, -1));
      expect(text).toMatch(/"suggested_fix":"[^"]/);
      expect(text).not.toMatch(/\/app|\/in\/|site-packages|\/tmp|\.py/);
    }
    expect(await book.list()).toEqual([]);
    expect(await book.ops()).toEqual(before);
    expect((await book.events('artifact.updated')).every(({ name }) => name === '売上')).toBe(true);
  }, 240_000);

  it('a view, and a key that is no column or is there twice', async () => {
    const book = await makeSales();
    expect(refused(await book.tryCreate({ ...byShop, materialize: 'view' }), 422, 'validation-failed').errors).toMatchObject([
      { pointer: '/materialize' },
    ]);
    expect(refused(await book.tryCreate({ ...byShop, key: ['月'] }), 422, 'validation-failed').errors).toMatchObject([
      { pointer: '/key/0' },
    ]);
    const twice = { ...byShop, template: 'def transform(detail): return detail' };
    expect(refused(await book.tryCreate(twice), 400, 'query-failed').detail).toBe('The result has 1 keys that several rows have.');
    expect(await book.list()).toEqual([]);
  });

  it('a run that fails leaves the output as it was, stale, with the reason', async () => {
    const book = await makeSales();
    const template = 'def transform(detail):\n    assert len(detail) == 3, "not three"\n    return detail';
    await book.create({ ...byShop, template, key: null });
    await book.edit('売上', [{ 店: '京都', 月: '04', 金額: 1 }]);
    expect(refused(await book.tryRun('店別'), 400, 'query-failed').detail).toBe('AssertionError was raised in line 2: not three.');
    expect(await book.get('店別')).toMatchObject({
      freshness: { stale: true },
      last_error: 'AssertionError was raised in line 2: not three.',
    });
    expect((await book.read('店別')).length).toBe(3);
    const recompute = await store.owner.client.POST('/api/v1/workbooks/{workbook_id}/recompute', {
      params: { path: { workbook_id: book.id } },
    });
    expect(ok(recompute)).toMatchObject({
      recomputed: [],
      failed: [{ name: '店別', error: 'AssertionError was raised in line 2: not three.' }],
    });
  });
});
