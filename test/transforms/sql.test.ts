import { describe, expect, it } from 'vitest';
import { beginRun } from '../../activities/transforms/beginTransformJob.ts';
import { runTransform } from '../../activities/transforms/runTransform.ts';
import { commit } from '../../store/pg/commit.ts';
import { findTransform } from '../../store/pg/transforms.ts';
import { ok, refused } from '../setup/api.ts';
import { setPolicy } from '../setup/governance.ts';
import { useStoreWithWorker } from '../workflows/storeWithWorker.ts';
import { makeBook } from './world.ts';

const store = await useStoreWithWorker();

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
  template: 'SELECT 店, sum(金額) AS 合計 FROM {{ detail }} GROUP BY 店 ORDER BY 店',
  args: { detail: '売上' },
  key: ['店'],
};

describe('a transform in SQL', () => {
  it('makes a derived table, and says what it did', async () => {
    const book = await makeSales();
    const { transform, output, op_id } = await book.create(byShop);
    expect(output).toEqual({ name: '店別', edit_version: 1, row_count: 2 });
    expect(transform).toMatchObject({ ...byShop, language: 'sql', output: '店別', materialize: 'table', revision: 1, last_error: null });
    expect(transform.freshness).toEqual({ stale: false, stale_since: null });
    expect(await book.read('店別')).toEqual([
      { __svc_row_id: 1, 店: '大阪', 合計: 30 },
      { __svc_row_id: 2, 店: '東京', 合計: 150 },
    ]);
    const table = await book.getTable('店別');
    expect(table).toMatchObject({ layer: 'derived', transform: { name: '店別', language: 'sql', inputs: ['売上'], key: ['店'] } });
    expect(await book.list()).toEqual([transform]);
    expect(await book.get('店別')).toEqual(transform);
    const [op] = await book.ops();
    expect(op).toMatchObject({
      op_id,
      kind: 'transform.run',
      table: '店別',
      undoable: false,
      code_ref: expect.stringMatching(/^trf_.*@1$/),
    });
    expect((await book.events('artifact.updated')).at(-1)).toMatchObject({ name: '店別', edit_version: 1 });
  });

  it('keeps row ids by key from run to run, and makes no version of the same content', async () => {
    const book = await makeSales();
    await book.create(byShop);
    expect((await book.run('店別')).output?.edit_version).toBe(1);
    await book.edit('売上', [
      { 店: '京都', 月: '04', 金額: 7 },
      { __svc_row_id: 1, 金額: 101 },
    ]);
    expect((await book.run('店別')).output).toEqual({ name: '店別', edit_version: 2, row_count: 3 });
    expect(await book.read('店別')).toEqual([
      { __svc_row_id: 1, 店: '大阪', 合計: 30 },
      { __svc_row_id: 2, 店: '東京', 合計: 151 },
      { __svc_row_id: 3, 店: '京都', 合計: 7 },
    ]);
  });

  it('keeps row ids by a key that rows shared before', async () => {
    const book = await makeSales();
    await book.create({ name: '月', template: 'SELECT 店 || 月 AS 店月, 月 FROM {{ d }} ORDER BY 1', args: { d: '売上' }, key: ['店月'] });
    const template = 'SELECT 月, sum(金額) AS 計 FROM {{ d }} GROUP BY 月';
    const { output } = await book.create({ name: '月', template, args: { d: '売上' }, key: ['月'] });
    expect(output).toMatchObject({ edit_version: 2, row_count: 2 });
    expect(await book.read('月')).toEqual([
      { __svc_row_id: 1, 月: '04', 計: 130 },
      { __svc_row_id: 3, 月: '05', 計: 50 },
    ]);
  });

  it('keeps row ids by content without a key, also of rows that are there twice', async () => {
    const book = await makeSales();
    await book.create({ name: '月', template: 'SELECT 月 FROM {{ d }} ORDER BY 月', args: { d: '売上' } });
    await book.edit('売上', [
      { 店: '京都', 月: '03', 金額: 1 },
      { 店: '京都', 月: '04', 金額: 1 },
    ]);
    await book.run('月');
    expect(await book.read('月')).toEqual([
      { __svc_row_id: 1, 月: '04' },
      { __svc_row_id: 2, 月: '04' },
      { __svc_row_id: 3, 月: '05' },
      { __svc_row_id: 4, 月: '03' },
      { __svc_row_id: 5, 月: '04' },
    ]);
  });

  it('is replaced under its name, with other columns and under another name of its output', async () => {
    const book = await makeSales();
    await book.create(byShop);
    const template = 'SELECT 店, sum(金額) AS 合計, count(*) AS 件数 FROM {{ detail }} GROUP BY 店';
    const replaced = await book.create({ ...byShop, template, output: '店別集計' });
    expect(replaced.transform).toMatchObject({ revision: 2, output: '店別集計' });
    expect(replaced.output).toMatchObject({ name: '店別集計', edit_version: 2 });
    expect(await book.read('店別集計')).toEqual([
      { __svc_row_id: 1, 店: '大阪', 合計: 30, 件数: 1 },
      { __svc_row_id: 2, 店: '東京', 合計: 150, 件数: 2 },
    ]);
    expect((await book.list()).length).toBe(1);
  });

  it('is stored without a run where that is wanted', async () => {
    const book = await makeSales();
    const made = await book.create({ ...byShop, run: false });
    expect(made).toMatchObject({ output: null, op_id: null, transform: { revision: 1, last_run_at: null, freshness: { stale: true } } });
    expect(refused(await book.tryRemoveTable('売上'), 409, 'in-use')).toMatchObject({ detail: expect.stringContaining('店別') });
    expect((await book.run('店別')).output?.row_count).toBe(2);
    expect(await book.create({ ...byShop, run: false })).toMatchObject({
      output: null,
      transform: { revision: 2, freshness: { stale: true } },
    });
    expect((await book.run('店別')).transform.freshness.stale).toBe(false);
  });

  it('takes every type of the engine', async () => {
    const book = await makeBook(store);
    await book.create({
      name: 't',
      args: {},
      template: `SELECT 1::UTINYINT AS a, 2::HUGEINT AS b, 'NaN'::DOUBLE AS c, 1.5::FLOAT AS d, [1, 2] AS e, {'x': 'y'} AS f, DATE '2025-01-02' AS g,
        TIMESTAMPTZ '2025-01-02 03:04:05+09' AS h, INTERVAL 1 DAY AS i, true AS j, 1.25::DECIMAL(9,2) AS k, NULL AS l, TIME '01:02:03' AS m, 'infinity'::TIMESTAMP AS n`,
    });
    const { columns } = await book.getTable('t');
    expect(
      columns
        .slice(0, -1)
        .map(({ type }) => type)
        .join(' '),
    ).toBe('BIGINT BIGINT DOUBLE DOUBLE JSON JSON DATE TIMESTAMP VARCHAR BOOLEAN DECIMAL(9,2) BIGINT TIME TIMESTAMP');
    expect(await book.read('t')).toMatchObject([
      {
        a: 1,
        b: 2,
        c: null,
        d: 1.5,
        e: [1, 2],
        f: { x: 'y' },
        g: '2025-01-02',
        h: '2025-01-01T18:04:05',
        j: true,
        k: '1.25',
        l: null,
        n: null,
      },
    ]);
  });
});

describe('refused, with nothing changed:', () => {
  const bad = { name: 'x', args: { d: '売上' } };
  it.each([
    ['an unknown argument', { ...bad, template: 'SELECT * FROM {{ e }} , {{ d }}' }, 422, 'validation-failed', 'names no argument'],
    [
      'an argument without a table',
      { ...bad, args: { d: 'nothing' }, template: 'SELECT * FROM {{ d }}' },
      422,
      'validation-failed',
      'no active table nothing',
    ],
    ['a table that is not an argument', { ...bad, template: 'SELECT * FROM {{ d }}, 売上' }, 400, 'query-refused', '売上'],
    ['SQL that is none', { ...bad, template: 'SELEC * FROM {{ d }}' }, 400, 'query-failed', 'syntax error'],
    ['a column that is not there', { ...bad, template: 'SELECT nothing FROM {{ d }}' }, 400, 'query-failed', 'nothing'],
    ['another statement', { ...bad, template: 'DROP TABLE {{ d }}' }, 400, 'query-refused', 'SELECT'],
    ['a run that fails', { ...bad, template: 'SELECT CAST(店 AS INTEGER) AS n FROM {{ d }}' }, 400, 'query-failed', '東京'],
    [
      'keys that are there twice',
      { ...bad, template: 'SELECT * FROM {{ d }}', key: ['店'] },
      400,
      'query-failed',
      '1 keys that several rows have',
    ],
    [
      'keys that are null',
      { ...bad, template: 'SELECT NULL AS k FROM {{ d }} LIMIT 1', key: ['k'] },
      400,
      'query-failed',
      '1 rows without a key',
    ],
    ['a key that is no column', { ...bad, template: 'SELECT 店 FROM {{ d }}', key: ['月'] }, 422, 'validation-failed', 'no column 月'],
    [
      'a number beyond BIGINT',
      { ...bad, template: 'SELECT 9223372036854775807::HUGEINT * 2 AS big FROM {{ d }}' },
      400,
      'query-failed',
      'big',
    ],
    ['the name of a table', { ...bad, output: '売上', template: 'SELECT * FROM {{ d }}' }, 409, 'name-taken', '売上'],
    [
      'Python where it cannot be shut in',
      { ...bad, language: 'python' as const, template: 'def transform(d): return d' },
      501,
      'not-configured',
      'Install bubblewrap',
    ],
  ])('%s', async (_, wanted, status, slug, text) => {
    const book = await makeSales();
    const problem = refused(await book.tryCreate(wanted), status, slug);
    expect(JSON.stringify(problem)).toContain(text);
    expect(JSON.stringify(problem)).not.toContain('svc_arg');
    expect(await book.list()).toEqual([]);
    expect((await book.events('artifact.updated')).every(({ name }) => name === '売上')).toBe(true);
  });

  it('a cycle, with its path', async () => {
    const book = await makeSales();
    const all = 'SELECT * FROM {{ d }}';
    await book.create({ name: 'a', template: all, args: { d: '売上' } });
    await book.create({ name: 'b', template: all, args: { d: 'a' } });
    const problem = refused(await book.tryCreate({ name: 'a', template: all, args: { d: 'b' } }), 409, 'cycle');
    expect(problem.errors).toEqual([{ pointer: '/args', detail: 'b → a → b' }]);
    refused(await book.tryCreate({ name: 'a', template: all, args: { d: 'a' } }), 409, 'cycle');
    expect((await book.get('a')).revision).toBe(1);
  });

  it('edits of a derived table, and its deletion without its transform', async () => {
    const book = await makeSales();
    await book.create({ ...byShop, key: null });
    const { client } = store.owner;
    const params = { path: { workbook_id: book.id, name: '店別' } };
    const body = { rows: [{ 店: 'x' }], expected_version: null };
    refused(await client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { params, body }), 409, 'in-use');
    refused(await book.tryRemoveTable('店別'), 409, 'in-use');
    expect((await book.read('店別')).length).toBe(2);
  });
});

describe('a run that fails in a workbook with policies', () => {
  it('tells its values to who asked for it alone', async () => {
    const book = await makeSales();
    await book.create({ name: '数', template: 'SELECT CAST(月 AS INTEGER) AS n FROM {{ d }}', args: { d: '売上' } });
    await book.edit('売上', [{ __svc_row_id: 1, 月: '極秘' }]);
    const { services } = store;
    await setPolicy(store.owner.client, book.id, 'pii', 'mask');
    const transform = await findTransform(services.db.orm, book.id, '数');
    const actor = { name: 'test', userId: store.owner.userId, credential: 'none', requestId: 'req_test' };
    const { accountId } = store.workbook;
    const { result: job } = await commit(services, actor, (tx) => beginRun(tx, { id: book.id, accountId }, transform?.id ?? ''));
    await runTransform(services, job.id, { heartbeat() {} });
    const shown = ok(await store.owner.client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: job.id } } }));
    expect(shown).toMatchObject({ status: 'failed', error: 'The run failed.' });
    const { rows } = await store.api.sql.query('SELECT problem FROM jobs WHERE id = $1', [job.id]);
    expect(JSON.stringify(rows)).toContain('極秘');
  });
});

describe('a change of columns', () => {
  const all = { name: '全', template: 'SELECT * FROM {{ d }}', args: { d: '売上' }, key: ['店', '月'] };
  const joined = { name: '結合', template: 'SELECT 店, 地域 FROM {{ d }} JOIN {{ r }} USING (店)', args: { d: '売上', r: '地域' } };

  async function makeReaders() {
    const book = await makeSales();
    await book.table('地域', [{ name: '店' }, { name: '地域' }], [{ 店: '東京', 地域: '関東' }]);
    for (const wanted of [byShop, all, joined]) await book.create(wanted);
    return book;
  }

  it('tells the transforms that it breaks', async () => {
    const book = await makeReaders();
    const rename = (table: string, column: string, name: string) => book.alterColumn(table, column, { new_name: name });
    const retype = (type: string) => book.alterColumn('売上', '金額', { type });
    expect(await rename('売上', '金額', '額')).toMatchObject({ stale: ['全', '店別'], broken: ['店別'] });
    expect((await rename('売上', '額', '金額')).broken).toEqual([]);
    expect(await rename('地域', '店', '支店')).toMatchObject({ stale: ['結合'], broken: ['結合'] });
    expect((await rename('地域', '支店', '店')).broken).toEqual([]);
    // A column of a key.
    expect((await rename('売上', '月', '年月')).broken).toEqual(['全']);
    expect((await rename('売上', '年月', '月')).broken).toEqual([]);
    expect((await retype('VARCHAR')).broken).toEqual(['店別']);
    expect((await retype('DOUBLE')).broken).toEqual([]);
    // A name that then means two columns.
    expect((await book.addColumn('売上', '地域')).broken).toEqual(['結合']);
    expect((await book.dropColumn('売上', '地域')).broken).toEqual([]);
    expect(await book.addColumn('売上', '備考')).toMatchObject({ stale: [], broken: [] });
    expect((await book.dropColumn('売上', '金額')).broken).toEqual(['店別']);
  });

  it('leaves a transform that it breaks stale until the columns are right again', async () => {
    const book = await makeReaders();
    await book.alterColumn('売上', '金額', { new_name: '額' });
    const { detail } = refused(await book.tryRun('店別'), 400, 'query-failed');
    expect(detail).toContain('金額');
    expect(await book.get('店別')).toMatchObject({ freshness: { stale: true, inputs: ['売上'] }, last_error: detail });
    expect((await book.read('店別')).length).toBe(2);
    // It was broken before.
    expect((await book.alterColumn('売上', '店', { new_name: '支店' })).broken).toEqual(['全', '結合']);
    expect((await book.alterColumn('売上', '支店', { new_name: '店' })).broken).toEqual([]);
    expect((await book.alterColumn('売上', '額', { new_name: '金額' })).broken).toEqual([]);
    expect((await book.run('店別')).transform).toMatchObject({ freshness: { stale: false }, last_error: null });
  });
});

describe('deleting', () => {
  it('takes the output along, but not while something is derived from it', async () => {
    const book = await makeSales();
    await book.create(byShop);
    await book.create({ name: '全', template: 'SELECT sum(合計) AS 計 FROM {{ s }}', args: { s: '店別' } });
    expect(refused(await book.tryRemove('店別'), 409, 'in-use').detail).toContain('全 is derived');
    expect(refused(await book.tryRemoveTable('売上'), 409, 'in-use').detail).toContain('店別 is derived');
    refused(await book.tryRemove('全', '7'), 409, 'version-conflict');
    ok(await book.tryRemove('全', '1'));
    ok(await book.tryRemove('店別'));
    expect(await book.list()).toEqual([]);
    expect((await book.events('artifact.deleted')).map(({ name }) => name)).toEqual(['全', '店別']);
    ok(await book.tryRemoveTable('売上'));
  });
});
