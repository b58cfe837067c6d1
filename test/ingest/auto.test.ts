import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { makeTable } from '../setup/tables.ts';
import { bare, makeIncomeStatement, makeXlsx, namesOf, scattered, useWorld } from './world.ts';

const world = await useWorld();

const atTable = (name: string, workbookId = world.workbookId) => ({ params: { path: { workbook_id: workbookId, name } } });
const getTable = async (name: string, workbookId?: string) =>
  ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}', atTable(name, workbookId)));

describe('uploadSource: a statement', () => {
  it('becomes the tables that the structuring page promises', async () => {
    const answer = await world.upload('損益.xlsx', await makeIncomeStatement());
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    expect(answer).not.toHaveProperty('structuring_reason');
    expect(answer.artifacts.map(({ name, row_count, schema, state }) => ({ name, row_count, schema, state }))).toEqual([
      { name: '損益計算書_階層1', row_count: 4, schema: periodColumns('科目'), state: 'active' },
      { name: '損益計算書_階層1_計算項目', row_count: 2, schema: periodColumns('科目'), state: 'active' },
      { name: '損益計算書_階層2', row_count: 4, schema: periodColumns('科目_階層1', '科目'), state: 'active' },
      {
        name: '損益計算書_科目',
        row_count: 5,
        schema: columns(
          ['科目ID', 'BIGINT'],
          ['科目', 'VARCHAR'],
          ['親科目ID', 'BIGINT'],
          ['階層', 'BIGINT'],
          ['順序', 'BIGINT'],
          ['種別', 'VARCHAR'],
          ['計算式', 'VARCHAR'],
        ),
        state: 'active',
      },
      {
        name: 'PL_補足情報',
        row_count: 3,
        schema: columns(['順序', 'BIGINT'], ['種別', 'VARCHAR'], ['内容', 'VARCHAR'], ['セル', 'VARCHAR'], ['対象テーブル', 'VARCHAR']),
        state: 'active',
      },
    ]);
  });

  it('has the values of the sheet, through rows', async () => {
    expect(await world.readCells('損益計算書_階層2')).toEqual([
      { 科目_階層1: '売上高', 科目: '製品売上', 期間: '2022年度', 期間開始: '2022-04-01', 値: 100 },
      { 科目_階層1: '売上高', 科目: '製品売上', 期間: '2023年度', 期間開始: '2023-04-01', 値: 120 },
      { 科目_階層1: '売上高', 科目: '商品売上', 期間: '2022年度', 期間開始: '2022-04-01', 値: 50 },
      { 科目_階層1: '売上高', 科目: '商品売上', 期間: '2023年度', 期間開始: '2023-04-01', 値: 60 },
    ]);
    expect(await world.readCells('損益計算書_階層1_計算項目')).toEqual([
      { 科目: '売上総利益', 期間: '2022年度', 期間開始: '2022-04-01', 値: 60 },
      { 科目: '売上総利益', 期間: '2023年度', 期間開始: '2023-04-01', 値: 80 },
    ]);
    expect(await world.readCells('PL_補足情報')).toEqual([
      { 順序: 1, 種別: 'タイトル', 内容: '損益計算書', セル: 'A1', 対象テーブル: '損益計算書' },
      { 順序: 2, 種別: '単位', 内容: '(単位：千円)', セル: 'A2', 対象テーブル: '損益計算書' },
      { 順序: 3, 種別: '注記', 内容: '※監査前', セル: 'A9', 対象テーブル: '損益計算書' },
    ]);
    expect((await world.readRows('損益計算書_階層1')).map((row) => row.__svc_row_id)).toEqual([1, 2, 3, 4]);
  });

  it('adds up, through SQL', async () => {
    const rows = await world.query(
      `SELECT a.期間, a.値 AS stated, (SELECT sum(b.値) FROM 損益計算書_階層2 b WHERE b.期間 = a.期間)::BIGINT AS summed
       FROM 損益計算書_階層1 a WHERE a.科目 = '売上高' ORDER BY a.期間`,
    );
    expect(rows).toEqual([
      { 期間: '2022年度', stated: 150, summed: 150 },
      { 期間: '2023年度', stated: 180, summed: 180 },
    ]);
  });

  it('keeps its raw table, archived, as the sheet shows it', async () => {
    expect(await world.listNames('archived')).toEqual(['損益_原本']);
    expect(await getTable('損益_原本')).toMatchObject({ state: 'archived', row_count: 9, edit_version: 1 });
    expect((await world.readCells('損益_原本'))[3]).toEqual({ A: '売上高', B: '150', C: '180' });
  });

  it('is a source that says all this', async () => {
    const source = await world.getSource('損益.xlsx');
    expect(source).toMatchObject({ mode: 'auto', status: 'materialized', structuring: 'structured', structuring_reason: null });
    expect(source.artifacts).toHaveLength(5);
    expect(source.parse_spec?.regions.map(({ kind }) => kind)).toEqual(['title', 'note', 'report', 'note']);
    const { sources } = ok(
      await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources', { params: { path: { workbook_id: world.workbookId } } }),
    );
    expect(sources).toEqual([source]);
  });

  it('can have its raw table back', async () => {
    const { client } = world.owner;
    const path = '/api/v1/workbooks/{workbook_id}/artifacts/{name}/unarchive';
    expect(ok(await client.POST(path, atTable('損益_原本')))).toMatchObject({ name: '損益_原本', state: 'active' });
    expect(await world.query("SELECT B FROM 損益_原本 WHERE A = '製品売上'")).toEqual([{ B: '100' }]);
  });
});

describe('uploadSource: a plain table', () => {
  it('tells what was found in it by its parse spec', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('経費.csv', '氏名,交通費,宿泊費\n相川,12400,9800\n井上,8600,-\n宇田,15300,19600\n合計,38300,29400\n', {
      workbookId,
    });
    const params = { path: { workbook_id: workbookId, source_name: '経費.csv' } };
    const spec = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}/parse-spec', { params }));
    expect(spec.findings).toMatchObject([
      { kind: 'total_mismatch', cell: 'B5', stated: 38300, computed: 36300 },
      { kind: 'missing_mark', cell: 'C3' },
    ]);
    expect(spec.doubtful).toEqual([]);
  });

  it('takes the name of its file', async () => {
    const workbookId = await world.newWorkbook();
    const answer = await world.upload('在庫.xlsx', await makeXlsx({ Sheet1: bare(5) }), { workbookId });
    expect(namesOf(answer)).toEqual(['在庫']);
    expect(answer.artifacts[0]?.schema).toEqual(columns(['品番', 'VARCHAR'], ['品名', 'VARCHAR'], ['数量', 'BIGINT']));
    expect(await world.readCells('在庫', workbookId)).toEqual(
      [0, 1, 2, 3, 4].map((n) => ({ 品番: `P000${n + 1}`, 品名: `品 ${n + 1}`, 数量: n * 3 })),
    );
    expect(await world.listNames('archived', workbookId)).toEqual(['在庫_原本']);
  });

  it('of several sheets carries the name of its sheet', async () => {
    const workbookId = await world.newWorkbook();
    const answer = await world.upload('支店.xlsx', await makeXlsx({ 東京: bare(3), 大阪: bare(4) }), { workbookId });
    expect(answer.artifacts.map(({ name, row_count }) => [name, row_count])).toEqual([
      ['支店_東京', 3],
      ['支店_大阪', 4],
    ]);
    expect(await world.listNames('archived', workbookId)).toEqual(['支店_大阪_原本', '支店_東京_原本']);
    expect(await world.query('SELECT sum(数量)::BIGINT AS n FROM 支店_大阪', workbookId)).toEqual([{ n: 18 }]);
  });

  it('in Shift_JIS is read as it was meant', async () => {
    const workbookId = await world.newWorkbook();
    // 品名,数量 / 鉛筆,1,200 with a quoted number / 消しゴム,30
    const bytes = new Uint8Array([
      0x95, 0x69, 0x96, 0xbc, 0x2c, 0x90, 0x94, 0x97, 0xca, 0x0a, 0x89, 0x94, 0x95, 0x4d, 0x2c, 0x22, 0x31, 0x2c, 0x32, 0x30, 0x30, 0x22,
      0x0a, 0x8f, 0xc1, 0x82, 0xb5, 0x83, 0x53, 0x83, 0x80, 0x2c, 0x33, 0x30, 0x0a,
    ]);
    const answer = await world.upload('文具.csv', bytes, { workbookId });
    expect(namesOf(answer)).toEqual(['文具']);
    expect(await world.readCells('文具', workbookId)).toEqual([
      { 品名: '鉛筆', 数量: 1200 },
      { 品名: '消しゴム', 数量: 30 },
    ]);
  });

  it('whose name is taken gets a number', async () => {
    const workbookId = await world.newWorkbook();
    await makeTable(world.owner.client, workbookId, '売上', [{ name: 'a' }]);
    const answer = await world.upload('売上.xlsx', await makeXlsx({ S: bare(2) }), { workbookId });
    expect(namesOf(answer)).toEqual(['売上_2']);
    expect(await world.listNames('active', workbookId)).toEqual(['売上', '売上_2']);
  });

  it.each([
    ['istanbul', 'İstanbul'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφοσ'],
    ['straße', 'STRAẞE'],
  ])('whose name is taken but for its case gets a number: %s and %s', async (taken, name) => {
    const workbookId = await world.newWorkbook();
    await makeTable(world.owner.client, workbookId, taken, [{ name: 'a' }]);
    expect(namesOf(await world.upload(`${name}.csv`, 'a,b\n1,2\n', { workbookId }))).toEqual([`${name}_2`]);
  });

  it('named in parts, as a Mac may, is reached by its name as it is typed, and so are its columns', async () => {
    const workbookId = await world.newWorkbook();
    const [name, column] = ['売上データ', 'バグ'];
    const parts = (text: string) => text.normalize('NFD');
    expect(parts(name)).not.toBe(name);
    const answer = await world.upload(`${parts(name)}.csv`, `${parts(column)},n\n1,2\n3,4\n`, { workbookId });
    expect(namesOf(answer)).toEqual([name]);
    const sql = `SELECT sum(${column}) AS s FROM ${name}`;
    const found = ok(
      await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/query', {
        params: { path: { workbook_id: workbookId } },
        body: { sql },
      }),
    );
    expect(found).toMatchObject({ rows: [{ s: 4 }] });
  });

  it('of the same file name and other bytes is another source', async () => {
    const workbookId = await world.newWorkbook();
    const first = await world.upload('月次.xlsx', await makeXlsx({ S: bare(2) }), { workbookId });
    const second = await world.send('月次.xlsx', await makeXlsx({ S: bare(3) }), { workbookId });
    expect(second.status).toBe(201);
    expect(decodeURIComponent(second.headers.get('location') ?? '')).toBe(`/api/v1/workbooks/${workbookId}/sources/月次_2.xlsx`);
    const body = (await second.json()) as typeof first;
    expect([first.source.name, body.source.name, body.source.filename]).toEqual(['月次.xlsx', '月次_2.xlsx', '月次.xlsx']);
    expect(namesOf(body)).toEqual(['月次_2']);
    expect(await world.readRows('月次', workbookId)).toHaveLength(2);
    expect(await world.readRows('月次_2', workbookId)).toHaveLength(3);
  });
});

describe('uploadSource: a sheet that is not understood', () => {
  it('stays as it is beside those that are', async () => {
    const workbookId = await world.newWorkbook();
    const answer = await world.upload('混在.xlsx', await makeXlsx({ 表: bare(3), 乱: scattered() }), { workbookId });
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    // No other sheet would take the file's name.
    expect(namesOf(answer).sort()).toEqual(['混在', '混在_乱']);
    expect(await world.listNames('active', workbookId)).toEqual(['混在', '混在_乱']);
    expect(await world.listNames('archived', workbookId)).toEqual(['混在_表_原本']);
    expect((await world.readCells('混在_乱', workbookId))[0]).toMatchObject({ A: '1' });
  });

  it('and is alone falls back, with the reason and free of charge', async () => {
    const workbookId = await world.newWorkbook();
    const before = await world.readCredits();
    const answer = await world.upload('乱.xlsx', await makeXlsx({ S: scattered() }), { workbookId });
    expect(answer).toMatchObject({ structuring: 'raw_fallback', credits_charged: 0 });
    expect(answer.structuring_reason).toMatch(/^failed:\d+ numbers stand outside of any table that was found$/);
    expect(namesOf(answer)).toEqual(['乱']);
    expect(await world.listNames('active', workbookId)).toEqual(['乱']);
    expect(await world.readCredits()).toEqual(before);
    expect(await world.getSource('乱.xlsx', workbookId)).toMatchObject({
      status: 'materialized',
      structuring: 'raw_fallback',
      structuring_reason: answer.structuring_reason,
    });
  });
});

describe('uploadSource: who may upload', () => {
  it('a stranger does not even see the workbook', async () => {
    const stranger = await world.api.signUp();
    const response = await world.send('在庫.xlsx', await makeXlsx({ S: bare(1) }), { token: stranger.session });
    expect(response.status).toBe(404);
  });

  it('nothing is asked of a file that is not there', async () => {
    const path = { workbook_id: world.workbookId, source_name: 'ない.xlsx' };
    refused(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}', { params: { path } }), 404, 'not-found');
  });
});

function columns(...pairs: [name: string, type: string][]): { name: string; type: string }[] {
  return pairs.map(([name, type]) => ({ name, type }));
}

function periodColumns(...labels: string[]): { name: string; type: string }[] {
  return columns(...labels.map((name): [string, string] => [name, 'VARCHAR']), ['期間', 'VARCHAR'], ['期間開始', 'DATE'], ['値', 'BIGINT']);
}
