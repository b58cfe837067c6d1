import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ColumnEffect } from '../../core/table/visibleTable.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { ok } from '../setup/api.ts';
import { hideColumns, showColumns } from '../setup/governance.ts';
import { findOpenpyxl, runPython } from '../setup/openpyxl.ts';
import { cellsOf } from '../xlsx/makeWorkbook.ts';
import { useWorkbook } from './tableDriver.ts';

// Before the service starts, which must not stand still meanwhile.
const python = findOpenpyxl();
const { api, world } = await useWorkbook();
const folder = mkdtempSync(join(tmpdir(), 'sheets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { client } = world.owner;
const base = '/api/v1/workbooks/{workbook_id}' as const;
const workbook = { workbook_id: world.workbookId };
const listed = { params: { path: workbook } };
const named = (name: string) => ({ params: { path: { ...workbook, name } } });

interface Problem {
  status: number;
  type: string;
  detail: string;
  errors?: { pointer: string; detail: string }[];
}
const problemOf = (answer: { error?: unknown }) => answer.error as Problem;

type Block = Record<string, unknown> & { kind: string };
const put = (name: string, blocks: Block[], title?: string) =>
  client.PUT(`${base}/sheets/{name}`, { ...named(name), body: { ...(title ? { title } : {}), spec: { blocks: blocks as never } } });
const get = async (name: string) => ok(await client.GET(`${base}/sheets/{name}`, named(name)));

async function render(name: string) {
  const path = `/api/v1/workbooks/${world.workbookId}/sheets/${encodeURIComponent(name)}/render`;
  const answer = await api.fetch(path, { token: world.owner.session });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect([answer.status, answer.status === 200 ? '' : bytes.toString()]).toEqual([200, '']);
  return { bytes, header: (header: string) => answer.headers.get(header) };
}

async function readCells(bytes: Buffer) {
  const [sheet] = (await readWorkbook(bytes)).sheets;
  return { name: sheet?.sheet, cells: sheet ? cellsOf(sheet) : {} };
}

async function readWithExcelJs(bytes: Buffer): Promise<ExcelJS.Worksheet> {
  const book = new ExcelJS.Workbook();
  await book.xlsx.load(bytes.buffer as ArrayBuffer);
  return book.worksheets[0] as ExcelJS.Worksheet;
}

const sales = await world.makeTable('売上', [
  { name: '日付', type: 'DATE' },
  { name: '得意先', type: 'VARCHAR' },
  { name: '金額', type: 'BIGINT' },
  { name: '率', type: 'DECIMAL(6,3)' },
  { name: '済', type: 'BOOLEAN' },
]);
ok(
  await sales.upsert([
    { 日付: '2024-04-01', 得意先: '山田商店', 金額: 120000, 率: '0.125', 済: true },
    { 日付: '2024-04-02', 得意先: '=1+1', 金額: '9007199254740993', 率: null, 済: false },
    { 日付: null, 得意先: '007', 金額: -5, 率: '1.5', 済: null },
  ]),
);
const costs = await world.makeTable('経費', [{ name: '科目' }, { name: '額', type: 'DOUBLE' }]);
ok(await costs.upsert([{ 科目: '旅費', 額: 1.5 }, { 科目: '会議費' }]));

const report: Block[] = [
  { kind: 'heading', text: '四月の報告' },
  { kind: 'text', text: '(単位：円)\n=二行目' },
  { kind: 'spacer', rows: 2 },
  { kind: 'table_view', table: '売上', title: '=売上明細' },
];

describe('a sheet', () => {
  it('is created, replaced, listed and deleted, and no data with it', async () => {
    const created = await put('決算', [{ kind: 'table_view', table: '経費', columns: ['額', '科目'], limit: 5 }, ...report], '2024年度');
    expect(created.response.status).toBe(201);
    expect(created.response.headers.get('location')).toBe(`/api/v1/workbooks/${world.workbookId}/sheets/${encodeURIComponent('決算')}`);
    const made = ok(created);
    expect(made).toMatchObject({ name: '決算', title: '2024年度', tables: ['経費', '売上'], missing_tables: [] });
    expect(made.spec.blocks).toEqual([
      { kind: 'table_view', table: '経費', columns: ['額', '科目'], limit: 5 },
      { kind: 'heading', text: '四月の報告', level: 1 },
      ...report.slice(1),
    ]);
    expect(await get('決算')).toEqual(made);
    ok(await put('Appendix', []));
    const replaced = await put('決算', report);
    expect(replaced.response.status).toBe(200);
    expect(ok(replaced)).toMatchObject({ title: '決算', tables: ['売上'], created_at: made.created_at });
    // Case does not count, and the name stays as it was.
    expect(ok(await put('APPENDIX', [{ kind: 'spacer' }])).name).toBe('Appendix');
    const { sheets } = ok(await client.GET(`${base}/sheets`, listed));
    expect(sheets.map(({ name, title, tables }) => [name, title, tables])).toEqual([
      ['Appendix', 'Appendix', []],
      ['決算', '決算', ['売上']],
    ]);
    const first = ok(await client.GET(`${base}/sheets`, { params: { path: workbook, query: { limit: 1 } } }));
    const second = ok(
      await client.GET(`${base}/sheets`, { params: { path: workbook, query: { limit: 1, cursor: first.next_cursor ?? '' } } }),
    );
    expect([...first.sheets, ...second.sheets].map(({ name }) => name)).toEqual(['Appendix', '決算']);
    expect(second.next_cursor).toBeNull();
    expect((await client.DELETE(`${base}/sheets/{name}`, named('appendix'))).response.status).toBe(204);
    expect(problemOf(await client.GET(`${base}/sheets/{name}`, named('Appendix')))).toMatchObject({ status: 404 });
    expect((await sales.read()).row_count).toBe(3);
    const { rows } = await api.sql.query<{ type: string; data: unknown }>(
      `SELECT type, data FROM outbox WHERE scope = $1 AND data->>'kind' = 'sheet' ORDER BY seq DESC LIMIT 1`,
      [world.workbookId],
    );
    expect(rows).toEqual([
      {
        type: 'artifact.deleted',
        data: { artifact_id: expect.stringMatching(/^sht_/), name: 'Appendix', kind: 'sheet', edit_version: null },
      },
    ]);
    const { entries } = ok(await client.GET(`${base}/audit-log`, listed));
    expect(entries.map(({ action }) => action)).toEqual(expect.arrayContaining(['sheet.put', 'sheet.delete']));
  });

  it('is counted and listed among the artifacts, page by page', async () => {
    ok(await put('決算', report));
    const { counts } = ok(await client.GET(base, { params: { path: workbook } }));
    expect(counts).toMatchObject({ sheets: 1, charts: 0 });
    const read = async (query: Record<string, unknown>) => ok(await client.GET(`${base}/artifacts`, { params: { path: workbook, query } }));
    const all = (await read({})).artifacts;
    expect(all.at(-1)).toMatchObject({ name: '決算', type: 'sheet', table_name: null, state: 'active' });
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof read>> = await read({ limit: 1, ...(cursor ? { cursor } : {}) });
      paged.push(...page.artifacts.map(({ name }) => name));
      cursor = page.next_cursor;
    } while (cursor);
    expect(paged).toEqual(all.map(({ name }) => name));
    expect((await read({ state: 'archived' })).artifacts.some(({ type }) => type === 'sheet')).toBe(false);
  });

  it.each<[string, Block[], string[]]>([
    ['an unknown table', [{ kind: 'table_view', table: '売上高' }], ['/spec/blocks/0/table']],
    [
      'unknown and repeated columns',
      [
        { kind: 'spacer' },
        { kind: 'table_view', table: '売上', columns: ['金額', '金頟', 'x', '金額'] },
        { kind: 'table_view', table: '無' },
      ],
      ['/spec/blocks/1/columns/1', '/spec/blocks/1/columns/2', '/spec/blocks/1/columns/3', '/spec/blocks/2/table'],
    ],
    ['a kind that there is not', [{ kind: 'picture' }], ['/spec/blocks/0/kind']],
    ['no kind', [{} as Block], ['/spec/blocks/0/kind']],
    ['no object', ['text' as unknown as Block], ['/spec/blocks/0']],
    [
      'what its kind needs and is not there',
      [{ kind: 'heading' }, { kind: 'table_view' }],
      ['/spec/blocks/0/text', '/spec/blocks/1/table'],
    ],
    ['what another kind has', [{ kind: 'text', text: 'x', level: 1 }], ['/spec/blocks/0/level']],
    ['a level that there is not', [{ kind: 'heading', text: 'x', level: 7 }], ['/spec/blocks/0/level']],
    ['no rows', [{ kind: 'spacer', rows: 0 }], ['/spec/blocks/0/rows']],
    ['no columns', [{ kind: 'table_view', table: '売上', columns: [] }], ['/spec/blocks/0/columns']],
    ['a limit that no sheet holds', [{ kind: 'table_view', table: '売上', limit: 1_048_577 }], ['/spec/blocks/0/limit']],
    ['too many blocks', Array(501).fill({ kind: 'spacer' }), ['/spec/blocks']],
  ])('is refused with %s', async (_, blocks, pointers) => {
    const problem = problemOf(await put('誤り', blocks));
    expect(problem).toMatchObject({ status: 422 });
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(problemOf(await client.GET(`${base}/sheets/{name}`, named('誤り')))).toMatchObject({ status: 404 });
  });

  it.each([' x', 'a\tb', 'x'.repeat(201)])('is refused with the name %j', async (name) => {
    const problem = problemOf(await put(name, []));
    expect([problem.status, problem.errors?.[0]?.pointer]).toEqual([422, '/path/name']);
  });

  it('is refused if its texts alone are longer than a sheet', async () => {
    const text = '\n'.repeat(9_999);
    expect(problemOf(await put('長い', Array(105).fill({ kind: 'text', text })))).toMatchObject({ status: 413 });
  });

  it('has a name that no table has, and no table gets its name', async () => {
    expect(problemOf(await put('売上', []))).toMatchObject({ status: 409, type: 'urn:svc:problem:name-taken' });
    ok(await put('Names', []));
    const table = { name: 'names', columns: [{ name: 'a' }] };
    const isTaken = { status: 409, type: 'urn:svc:problem:name-taken', detail: expect.stringContaining('A sheet named names') };
    expect(problemOf(await client.POST(`${base}/tables`, { ...listed, body: table }))).toMatchObject(isTaken);
    const transform = { name: 'names', language: 'sql' as const, template: 'SELECT * FROM {{ t }}', args: { t: '経費' }, run: false };
    expect(problemOf(await client.POST(`${base}/transforms`, { ...listed, body: transform }))).toMatchObject(isTaken);
    await world.makeTable('あとで', [{ name: 'a' }]);
    ok(await client.POST(`${base}/artifacts/{name}/archive`, named('あとで')));
    ok(await put('あとで', []));
    expect(problemOf(await client.POST(`${base}/artifacts/{name}/unarchive`, named('あとで')))).toMatchObject({ status: 409 });
    ok(await client.DELETE(`${base}/sheets/{name}`, named('Names')));
    ok(await client.DELETE(`${base}/sheets/{name}`, named('あとで')));
    ok(await client.POST(`${base}/artifacts/{name}/unarchive`, named('あとで')));
  });

  it('follows its tables and columns, and says which tables are gone', async () => {
    const table = await world.makeTable('元', [{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    ok(await table.upsert([{ a: '1', b: '2', c: '3' }]));
    ok(await put('追う', [{ kind: 'table_view', table: '元', columns: ['c', 'b'], title: '題' }]));
    ok(await table.rename('c', '三'));
    expect((await get('追う')).spec.blocks).toEqual([{ kind: 'table_view', table: '元', columns: ['三', 'b'], title: '題' }]);
    await api.sql.query(`UPDATE tables SET name = '新' WHERE name = '元' AND workbook_id = $1`, [world.workbookId]);
    expect(await get('追う')).toMatchObject({ tables: ['新'], missing_tables: [], spec: { blocks: [{ table: '新' }] } });
    const renamed = { ...named('新').params.path };
    const dropped = { params: { path: { ...renamed, column: 'b' }, query: { expected_version: 'null' } } };
    ok(await client.DELETE(`${base}/artifacts/{name}/columns/{column}`, dropped));
    expect((await get('追う')).spec.blocks).toMatchObject([{ columns: ['三'] }]);
    expect((await readCells((await render('追う')).bytes)).cells).toEqual({ A1: '題', A2: '三', A3: '3' });
    ok(await client.POST(`${base}/artifacts/{name}/archive`, named('新')));
    expect(await get('追う')).toMatchObject({ tables: ['元'], missing_tables: ['元'] });
    const { cells } = await readCells((await render('追う')).bytes);
    expect(cells).toEqual({ A1: '題', A2: '表「元」は削除またはアーカイブされています' });
    // A table that takes the name of the lost one takes its place.
    const again = await world.makeTable('元', [{ name: 'c' }, { name: 'b' }]);
    ok(await again.upsert([{ c: 'x', b: 'y' }]));
    expect(await get('追う')).toMatchObject({ tables: ['元'], missing_tables: [] });
    expect((await readCells((await render('追う')).bytes)).cells).toEqual({ A1: '題', A2: 'c', B2: 'b', A3: 'x', B3: 'y' });
  });

  it('is shown by the lineage of its tables', async () => {
    ok(await put('決算', report));
    const graph = ok(await client.GET(`${base}/tables/{name}/lineage`, named('売上'))) as { nodes: Node[]; edges: Edge[] };
    const sheet = graph.nodes.find(({ kind }) => kind === 'sheet');
    const table = graph.nodes.find(({ name }) => name === '売上');
    expect(sheet?.name).toBe('決算');
    expect(graph.edges).toContainEqual({ from: table?.id, to: sheet?.id });
    type Node = { id: string; kind: string; name: string };
    type Edge = { from: string; to: string };
  });
});

describe('a rendered sheet', () => {
  it('has its blocks one below the other', async () => {
    ok(await put('報/告', report));
    const { bytes, header } = await render('報/告');
    expect(header('content-type')).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
    expect(header('content-length')).toBe(String(bytes.length));
    expect(header('content-disposition')).toContain(`filename*=UTF-8''${encodeURIComponent('報_告.xlsx')}`);
    expect([header('x-svc-masked-columns'), header('x-svc-denied-columns')]).toEqual(['', '0']);
    const { name, cells } = await readCells(bytes);
    expect(name).toBe('報_告');
    expect(cells).toEqual({
      ...{ A1: '四月の報告', A2: '(単位：円)', A3: '=二行目', A6: '=売上明細' },
      ...{ A7: '日付', B7: '得意先', C7: '金額', D7: '率', E7: '済' },
      ...{ A8: { date: '2024-04-01T00:00:00' }, B8: '山田商店', C8: 120000, D8: 0.125, E8: true },
      ...{ A9: { date: '2024-04-02T00:00:00' }, B9: '=1+1', C9: '9007199254740993', E9: false },
      ...{ B10: '007', C10: -5, D10: 1.5 },
    });
  });

  it('has styles, widths and panes as exceljs reads them', async () => {
    const table = await world.makeTable('飾り', [{ name: 'とても長い名前の列です' }, { name: 'n', type: 'DOUBLE' }]);
    ok(await table.upsert([{ n: 1 }, { n: 2 }, { とても長い名前の列です: 'x' }]));
    const annotate = (target: object, style: object) => table.annotate([{ target, style: style as never }]);
    ok(await annotate({ column: 'n' }, { number_format: '#,##0.00', background: '#DDEEFF' }));
    ok(await annotate({ row_id: 2 }, { bold: true }));
    ok(await table.annotate([{ target: { row_id: 1, column: 'n' }, note: '注' }]));
    ok(
      await put('飾りのシート', [
        { kind: 'heading', text: '題', level: 2 },
        { kind: 'table_view', table: '飾り' },
      ]),
    );
    const sheet = await readWithExcelJs((await render('飾りのシート')).bytes);
    expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 2, topLeftCell: 'A3' });
    expect(sheet.autoFilter).toBe('A2:B5');
    expect(sheet.getCell('A1').font).toMatchObject({ bold: true, size: 15 });
    expect(sheet.getCell('A2')).toMatchObject({ font: { bold: true }, fill: { fgColor: { argb: 'FFDDE6F0' } } });
    expect(sheet.getCell('B3')).toMatchObject({ numFmt: '#,##0.00', fill: { fgColor: { argb: 'FFDDEEFF' } } });
    expect(sheet.getCell('B4')).toMatchObject({ font: { bold: true }, fill: { fgColor: { argb: 'FFDDEEFF' } } });
    // Empty, and still of the column's colour.
    expect(sheet.getCell('B5')).toMatchObject({ value: null, fill: { fgColor: { argb: 'FFDDEEFF' } } });
    expect(JSON.stringify(sheet.getCell('B3').note)).toContain('注');
    expect((sheet.getColumn(1).width ?? 0) > (sheet.getColumn(2).width ?? 0)).toBe(true);
  });

  it('has several tables with columns that fit all of them, and nothing frozen', async () => {
    ok(
      await put('二つ', [
        { kind: 'table_view', table: '経費' },
        { kind: 'spacer' },
        { kind: 'table_view', table: '売上', columns: ['得意先', '金額'], limit: 1 },
        { kind: 'table_view', table: '経費', limit: 1 },
      ]),
    );
    const { bytes } = await render('二つ');
    expect((await readCells(bytes)).cells).toEqual({
      ...{ A1: '科目', B1: '額', A2: '旅費', B2: 1.5, A3: '会議費' },
      ...{ A5: '得意先', B5: '金額', A6: '山田商店', B6: 120000 },
      ...{ A7: '科目', B7: '額', A8: '旅費', B8: 1.5 },
    });
    const sheet = await readWithExcelJs(bytes);
    expect([sheet.views[0]?.state, sheet.autoFilter]).toEqual(['normal', undefined]);
  });

  it('can have no block, or only texts and tables without rows', async () => {
    ok(await put('空', []));
    expect((await readCells((await render('空')).bytes)).cells).toEqual({});
    await world.makeTable('空の表', [{ name: 'a' }]);
    ok(
      await put('空', [
        { kind: 'text', text: '' },
        { kind: 'table_view', table: '空の表' },
      ]),
    );
    expect((await readCells((await render('空')).bytes)).cells).toEqual({ A2: 'a' });
  });

  it.skipIf(python === null)('is read by openpyxl as it is meant', async () => {
    ok(await put('報告', report, '四月 <報告>'));
    const path = join(folder, 'report.xlsx');
    writeFileSync(path, (await render('報告')).bytes);
    const script = `
import json, sys, openpyxl
book = openpyxl.load_workbook(sys.argv[1])
sheet = book.active
print(json.dumps({
  'title': book.properties.title, 'freeze': sheet.freeze_panes, 'filter': sheet.auto_filter.ref,
  'date': [str(sheet['A8'].value), sheet['A8'].is_date, sheet['A8'].number_format],
  'types': [sheet[c].data_type for c in ('A3', 'A6', 'B9', 'C9', 'C8', 'D8', 'E8')],
  'quoted': [sheet[c].quotePrefix for c in ('A3', 'A6', 'B9', 'B8')],
  'formats': [sheet[c].number_format for c in ('C8', 'D8', 'B8')],
  'heading': [sheet['A1'].font.b, sheet['A1'].font.sz],
}))`;
    expect(await runPython(python ?? '', script, path)).toEqual({
      title: '四月 <報告>',
      freeze: 'A8',
      filter: 'A7:E10',
      date: ['2024-04-01 00:00:00', true, 'yyyy-mm-dd'],
      types: ['s', 's', 's', 's', 'n', 'n', 'b'],
      quoted: [true, true, true, false],
      formats: ['0', '0.000', '@'],
      heading: [true, 18],
    });
  });

  it('is refused if it has more rows than a sheet, or a longer text than a cell', async () => {
    const table = await world.makeTable('大きい', [{ name: 'a' }]);
    ok(await table.upsert([{ a: 'あ'.repeat(32_768) }]));
    ok(
      await put('大きいシート', [
        { kind: 'heading', text: 'x' },
        { kind: 'table_view', table: '大きい' },
      ]),
    );
    const ask = () => client.GET(`${base}/sheets/{name}/render`, { ...named('大きいシート'), parseAs: 'stream' });
    expect(problemOf(await ask())).toMatchObject({ status: 413, detail: expect.stringContaining('A3 of the sheet 大きいシート') });
    await api.sql.query('UPDATE tables SET row_count = 1048575 WHERE name = $1', ['大きい']);
    expect(problemOf(await ask())).toMatchObject({ status: 413, detail: expect.stringContaining('1048577 rows') });
    // A limit makes it fit; the text is still too long.
    ok(await put('大きいシート', [{ kind: 'table_view', table: '大きい', limit: 1 }]));
    expect(problemOf(await ask())).toMatchObject({ status: 413, detail: expect.stringContaining('A2 of the sheet') });
  });
});

describe('columns that policies hide', () => {
  afterEach(() => showColumns(client, world.workbookId));
  const hide = (table: string, hidden: Record<string, ColumnEffect>) => hideColumns(client, world.workbookId, table, hidden);

  it('are blank or absent, and counted', async () => {
    ok(
      await put('隠す', [
        { kind: 'table_view', table: '売上', columns: ['得意先', '金額', '率'] },
        { kind: 'table_view', table: '売上', limit: 1 },
      ]),
    );
    await hide('売上', { 金額: 'mask', 率: 'deny', 済: 'deny' });
    expect((await get('隠す')).spec.blocks).toMatchObject([{ columns: ['得意先', '金額'] }, { table: '売上' }]);
    const { bytes, header } = await render('隠す');
    expect(decodeURIComponent(header('x-svc-masked-columns') ?? '')).toBe('金額');
    expect(header('x-svc-denied-columns')).toBe('2');
    const { cells } = await readCells(bytes);
    expect(cells).toEqual({
      ...{ A1: '得意先', B1: '金額', A2: '山田商店', A3: '=1+1', A4: '007' },
      ...{ A5: '日付', B5: '得意先', C5: '金額', A6: { date: '2024-04-01T00:00:00' }, B6: '山田商店' },
    });
    const problem = problemOf(await put('隠す', [{ kind: 'table_view', table: '売上', columns: ['率'] }]));
    expect(problem).toMatchObject({
      status: 422,
      errors: [{ pointer: '/spec/blocks/0/columns/0', detail: 'is not a column of this table' }],
    });
  });

  it('may be all that a block shows', async () => {
    ok(await put('隠す', [{ kind: 'table_view', table: '経費', columns: ['額'] }]));
    await hide('経費', { 額: 'deny' });
    expect((await readCells((await render('隠す')).bytes)).cells).toEqual({ A1: '表「経費」に表示できる列がありません' });
    expect((await get('隠す')).missing_tables).toEqual([]);
  });
});
