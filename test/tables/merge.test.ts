import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { findLibreOffice, saveWithLibreOffice } from '../setup/libreOffice.ts';
import { findOpenpyxl, runPython } from '../setup/openpyxl.ts';
import { type DrivenTable, makeWorkbookWith, useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();
const python = findOpenpyxl();
const office = findLibreOffice();
const folder = mkdtempSync(join(tmpdir(), 'merge-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const address = `/api/v1/workbooks/${world.workbookId}`;
const token = world.owner.session;
const listed = { params: { path: { workbook_id: world.workbookId } } };

interface Exported {
  branchId: string;
  bytes: Buffer;
}

async function branchOff(tables: string[], format = 'xlsx', of = address, as = token): Promise<Exported> {
  const body = JSON.stringify({ tables, format, record_branch: true });
  const answer = await api.fetch(`${of}/export`, { method: 'POST', token: as, headers: { 'Content-Type': 'application/json' }, body });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect([answer.status, answer.status === 200 ? '' : bytes.toString()]).toEqual([200, '']);
  return { branchId: answer.headers.get('x-svc-branch-id') ?? '', bytes };
}

interface Merged {
  edit_version: number;
  op_id: number | null;
  inserted: number;
  updated: number;
  deleted: number;
  conflicts: string[];
  unchanged: number;
  planned_conflicts?: Record<string, unknown>[];
}

type Answer = Merged & {
  branch_id: string;
  tables: (Merged & { name: string })[];
  type?: string;
  detail?: string;
  errors?: { pointer: string; detail: string }[];
};

async function send(path: string, bytes: Buffer | string, fields: Record<string, string>, filename = 'book.xlsx') {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([bytes as unknown as Uint8Array<ArrayBuffer>]), filename);
  const answer = await api.fetch(`${address}${path}`, { method: 'POST', token, body: form });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

async function merge(table: string, { branchId, bytes }: Exported, filename = 'book.xlsx', query = ''): Promise<Merged> {
  const { status, body } = await send(`/tables/${encodeURIComponent(table)}/merge${query}`, bytes, { branch_id: branchId }, filename);
  expect([status, status === 200 ? '' : JSON.stringify(body)]).toEqual([200, '']);
  return body;
}

/** Edits a workbook as exceljs does. */
async function editBook({ branchId, bytes }: Exported, change: (book: ExcelJS.Workbook) => void): Promise<Exported> {
  const book = new ExcelJS.Workbook();
  await book.xlsx.load(bytes as never);
  change(book);
  return { branchId, bytes: Buffer.from(await book.xlsx.writeBuffer()) };
}

const columns = [
  { name: '日付', type: 'DATE' },
  { name: '得意先' },
  { name: '金額', type: 'BIGINT' },
  { name: '率', type: 'DECIMAL(6,3)' },
  { name: '済', type: 'BOOLEAN' },
  { name: '時刻', type: 'TIMESTAMP' },
  { name: '比', type: 'DOUBLE' },
];
const rows = [
  { 日付: '2024-04-01', 得意先: '007', 金額: 120000, 率: '0.125', 済: true, 時刻: '2024-04-01T09:30:15', 比: 0.1 },
  { 日付: '2024-04-02', 得意先: '=1+1', 金額: '9007199254740993', 率: '1.500', 済: false, 時刻: null, 比: 0.30000000000000004 },
  { 日付: '1868-10-23', 得意先: '行\r\n末 ', 金額: null, 率: null, 済: null, 時刻: '2024-04-01T09:30:15.123456', 比: 1e21 },
];

async function makeSales(name: string): Promise<DrivenTable> {
  const table = await world.makeTable(name, columns);
  ok(await table.upsert(rows));
  return table;
}

const none = { op_id: null, inserted: 0, updated: 0, deleted: 0, conflicts: [], unchanged: 3 };

describe('an export that nobody edited', () => {
  it.each(['xlsx', 'csv'])('changes nothing when it comes back as %s', async (format) => {
    const table = await makeSales(`そのまま ${format}`);
    const exported = await branchOff([table.path.name], format);
    expect(await merge(table.path.name, exported, `book.${format}`)).toEqual({ edit_version: 2, ...none });
  });

  it('changes nothing when exceljs has written it again', async () => {
    const table = await makeSales('exceljs');
    const exported = await branchOff(['exceljs']);
    expect(await merge('exceljs', await editBook(exported, () => {}))).toEqual({ edit_version: 2, ...none });
    expect((await table.read()).edit_version).toBe(2);
  });

  it.skipIf(!python)('changes nothing when openpyxl has written it again', async () => {
    await makeSales('openpyxl');
    const exported = await branchOff(['openpyxl']);
    const path = join(folder, 'book.xlsx');
    writeFileSync(path, exported.bytes);
    await runPython(python as string, 'import sys, openpyxl\nbook = openpyxl.load_workbook(sys.argv[1])\nbook.save(sys.argv[1])', path);
    expect(await merge('openpyxl', { ...exported, bytes: readFileSync(path) })).toEqual({ edit_version: 2, ...none });
  });
});

/** Values of all types, among them what spreadsheets take for something else. */
const anyText = fc.oneof(
  fc.constantFrom(
    '007',
    '=1+1',
    "'x",
    '1/2',
    'TRUE',
    '12%',
    ' a',
    'a  ',
    '',
    '1e5',
    '1,234',
    '2024/4/1',
    '9:30',
    '-',
    '\n',
    'a\r\nb',
    '"',
    'a,b',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
);
const digits = (count: number) => fc.integer({ min: 0, max: 10 ** count - 1 }).map((each) => String(each).padStart(count, '0'));
const anyDay = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString());
const anyTime = fc.tuple(anyDay, fc.option(digits(6), { nil: '' })).map(([day, micros]) => `${day.slice(11, 19)}${micros && `.${micros}`}`);
const byType = {
  VARCHAR: anyText,
  BIGINT: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  DOUBLE: fc.double({ noNaN: true, noDefaultInfinity: true }),
  'DECIMAL(20,4)': fc.tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), digits(4)).map(([whole, part]) => `${whole}.${part}`),
  BOOLEAN: fc.boolean(),
  DATE: anyDay.map((day) => day.slice(0, 10)),
  TIMESTAMP: fc.tuple(anyDay, anyTime).map(([day, time]) => `${day.slice(0, 10)}T${time}`),
  TIME: anyTime,
  JSON: fc.oneof(fc.dictionary(fc.string({ maxLength: 5 }), fc.integer()), fc.array(anyText, { maxLength: 3 }), fc.boolean()),
};
const anyCells = fc.record(
  Object.fromEntries(Object.entries(byType).map(([type, value]) => [type, fc.option(value as fc.Arbitrary<unknown>, { freq: 4 })])),
);

describe('any export that nobody edited', () => {
  it.each(['xlsx', 'csv', 'xlsx by exceljs'])('changes nothing when it comes back as %s', async (way) => {
    const table = await world.makeTable(
      `任意 ${way}`,
      Object.keys(byType).map((type) => ({ name: type, type })),
    );
    const seed = Date.now();
    ok(await table.upsert(fc.sample(anyCells, { numRuns: 400, seed })));
    const format = way.slice(0, way === 'csv' ? 3 : 4);
    const exported = await branchOff([table.path.name], format);
    const file = way.includes('exceljs') ? await editBook(exported, () => {}) : exported;
    const planned = await merge(table.path.name, file, `book.${format}`, '?dry_run=true');
    expect([seed, planned]).toMatchObject([seed, { updated: 0, inserted: 0, deleted: 0, unchanged: 400 }]);
  });
});

/** What programs write in other ways than we do. */
const odd = [{ name: '時間', type: 'TIME' }, { name: 'JSON', type: 'JSON' }, { name: '文' }];
const oddRows = [
  { 時間: '09:30:00', JSON: { a: [1, 2] }, 文: '  前後 ', 得意先: 'TRUE', 比: 1 / 3, 日付: '1900-01-15' },
  {
    時間: '23:59:59.123456',
    JSON: '1.50',
    文: '_x000D_ タブ\t',
    得意先: '2024/1/1',
    比: 5e-324,
    日付: '9999-12-31',
    金額: '999999999999999',
  },
  { 時間: '00:00:00', JSON: null, 文: '', 得意先: "'引用", 比: 123456789012345680, 済: true, 金額: '-9223372036854775808' },
  { 文: '😀 <&>"', 得意先: '50%', 比: -0.1, 率: '-0.001', 時刻: '1999-12-31T23:59:59.999' },
];

describe.skipIf(!office)('an export that LibreOffice has saved', () => {
  it.each([[['xlsx']], [['ods', 'xlsx']]])(
    'as %j changes nothing if nobody edited it',
    async (formats) => {
      const name = `LibreOffice ${formats.join(' ')}`;
      const table = await world.makeTable(name, [...columns, ...odd]);
      ok(await table.upsert([...rows, ...oddRows]));
      const exported = await branchOff([name]);
      const saved = await saveWithLibreOffice(office as string, folder, exported.bytes, formats);
      const { status, body } = await send('/sync', saved, {});
      expect([status, body]).toEqual([
        200,
        { branch_id: exported.branchId, tables: [{ name, edit_version: 2, ...none, unchanged: rows.length + oddRows.length }] },
      ]);
    },
    240_000,
  );

  it.skipIf(!python)(
    'and openpyxl has edited is merged',
    async () => {
      const [one, two] = [await makeSales("売上 '24"), await makeSales('二つ目')];
      const exported = await branchOff(["売上 '24", '二つ目']);
      ok(await one.upsert([{ __svc_row_id: 2, 金額: 7 }]));
      const path = join(folder, 'edited.xlsx');
      writeFileSync(path, await saveWithLibreOffice(office as string, folder, exported.bytes));
      const script = `
import sys, openpyxl, datetime
book = openpyxl.load_workbook(sys.argv[1])
first, second = book.worksheets
first.title = '改名'
first['B2'] = '山田商店'
first['A2'] = datetime.date(2024, 5, 1)
first['C3'] = 8
first['E3'] = True
first['E2'] = False
first.append([datetime.date(2024, 6, 1), '新しい行', 5, 0.25, True])
second.delete_rows(3)
second.insert_cols(1)
second['A1'] = second['C1'].value
for row in (2, 3): second.cell(row, 1).value = second.cell(row, 3).value
second.delete_cols(3)
book.save(sys.argv[1])`;
      await runPython(python as string, script, path);
      // Another program saves it once more.
      const { status, body } = await send('/sync', await saveWithLibreOffice(office as string, folder, readFileSync(path)), {});
      expect([status, body.tables?.map(({ name, inserted, updated, deleted }) => [name, inserted, updated, deleted]) ?? body]).toEqual([
        200,
        [
          ["売上 '24", 1, 2, 0],
          ['二つ目', 0, 0, 1],
        ],
      ]);
      expect(body.tables[0]?.conflicts).toHaveLength(1);
      expect((await one.read()).rows).toMatchObject([
        { __svc_row_id: 1, 日付: '2024-05-01', 得意先: '山田商店', 金額: 120000, 済: false, 時刻: '2024-04-01T09:30:15' },
        { __svc_row_id: 2, 得意先: '=1+1', 金額: 8, 済: true, 比: 0.30000000000000004 },
        { __svc_row_id: 3, 日付: '1868-10-23', 得意先: '行\r\n末 ', 時刻: '2024-04-01T09:30:15.123456' },
        { 日付: '2024-06-01', 得意先: '新しい行', 金額: 5, 率: '0.250', 済: true },
      ]);
      expect((await two.read()).rows.map(({ __svc_row_id, 得意先 }) => [__svc_row_id, 得意先])).toEqual([
        [1, '007'],
        [3, '行\r\n末 '],
      ]);
    },
    240_000,
  );
});

describe('an edited export', () => {
  it('takes no notice of what a spreadsheet changes by itself', async () => {
    const name = '自動';
    const typed = [
      { name: '文字' },
      { name: '整数', type: 'BIGINT' },
      { name: '日', type: 'DATE' },
      { name: '時', type: 'TIMESTAMP' },
      { name: '真' },
    ];
    const table = await world.makeTable(name, typed);
    const stored = [
      { 文字: '007', 整数: '9007199254740993', 日: '2024-04-01', 時: '2024-04-01T12:00:00', 真: 'true' },
      { 文字: '12%', 整数: '123456789012345678', 日: null, 時: null, 真: 'FALSE' },
      { 文字: '末尾  ', 整数: 5, 日: '2024-04-01', 時: null, 真: '2024/4/1' },
    ];
    ok(await table.upsert(stored));
    const file = await editBook(await branchOff([name]), (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      const put = (cell: string, value: ExcelJS.CellValue, numFmt = 'General') =>
        Object.assign(sheet.getCell(cell), { value, style: { numFmt } });
      put('A2', 7);
      put('B2', 9007199254740990);
      put('C2', 45383);
      put('D2', 45383.5);
      put('E2', true);
      put('A3', 0.12, '0%');
      put('B3', 123456789012345000);
      put('E3', false);
      put('A4', '末尾');
      put('B4', '5');
      put('E4', new Date(Date.UTC(2024, 3, 1)), 'yyyy/m/d');
    });
    expect(await merge(name, file)).toMatchObject({ op_id: null, updated: 0, unchanged: 3 });
  });

  it('takes rows and columns in another order in a workbook, too, and adds pasted rows once', async () => {
    const table = await makeSales('並べ替え');
    const exported = await branchOff(['並べ替え']);
    const book = new ExcelJS.Workbook();
    await book.xlsx.load(exported.bytes as never);
    const sheet = book.worksheets[0] as ExcelJS.Worksheet;
    const cells = [1, 4, 3, 2].map((row) => [8, 3, 2].map((column) => sheet.getRow(row).getCell(column).value));
    sheet.spliceRows(1, 4, ...cells, [null, 5, '貼付'], [null, 5, '貼付'], [null, null, '']);
    sheet.eachRow((row) => row.eachCell((cell, column) => Object.assign(cell, { style: {}, value: column > 3 ? null : cell.value })));
    const file = { ...exported, bytes: Buffer.from(await book.xlsx.writeBuffer()) };
    expect(await merge('並べ替え', file)).toMatchObject({ inserted: 2, updated: 0, deleted: 0, unchanged: 3 });
    expect(await merge('並べ替え', file)).toMatchObject({ op_id: null, inserted: 0, unchanged: 5 });
    const after = (await table.read()).rows;
    expect(after.map((row) => [row.__svc_row_id, row.得意先, row.日付])).toEqual([
      [1, '007', '2024-04-01'],
      [2, '=1+1', '2024-04-02'],
      [3, '行\r\n末 ', '1868-10-23'],
      [4, '貼付', null],
      [5, '貼付', null],
    ]);
  });

  it('tells of its merges and conflicts in events', async () => {
    const [a, b] = [await makeSales('出来事一'), await makeSales('出来事二')];
    const exported = await branchOff(['出来事一', '出来事二']);
    ok(await a.upsert([{ __svc_row_id: 1, 金額: 1, 済: false }]));
    const file = await editBook(exported, (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      sheet.getCell('C2').value = 2;
      sheet.getCell('B2').value = '改';
    });
    const { body } = await send('/sync', file.bytes, {});
    const [merged] = body.tables;
    const { rows: events } = await api.sql.query<{ type: string; data: Record<string, unknown> }>(
      `SELECT type, data FROM outbox WHERE scope = $1 AND type IN ('version.merged', 'conflict.created') AND data->>'name' LIKE '出来事%'
       ORDER BY type, data->>'name'`,
      [world.workbookId],
    );
    expect(events).toMatchObject([
      { type: 'conflict.created', data: { name: '出来事一', conflict_id: merged?.conflicts[0], kind: 'overwrite' } },
      { type: 'version.merged', data: { name: '出来事一', branch_id: exported.branchId, edit_version: 4, conflicts: 1 } },
      { type: 'version.merged', data: { name: '出来事二', branch_id: exported.branchId, edit_version: 2, conflicts: 0 } },
    ]);
    expect(JSON.stringify(events)).not.toContain('改');
    const { branches } = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/branches', listed));
    expect(branches.filter(({ id }) => id === exported.branchId)).toMatchObject([
      { table: '出来事一', last_merged_at: expect.any(String) },
      { table: '出来事二', last_merged_at: expect.any(String) },
    ]);
    expect((await b.read()).edit_version).toBe(2);
  });

  it.each(['xlsx', 'csv'])('finds columns again that are named like formulas, in %s', async (format) => {
    const name = `式 ${format}`;
    const table = await world.makeTable(name, [{ name: '=a' }, { name: '-b', type: 'DOUBLE' }]);
    ok(await table.upsert([{ '=a': '@x', '-b': -1.5 }]));
    const unchanged = { op_id: null, inserted: 0, updated: 0, deleted: 0, unchanged: 1 };
    expect(await merge(name, await branchOff([name], format), `x.${format}`)).toMatchObject(unchanged);
  });

  it('keeps rows that one side deleted and the other edited as conflicts, which can be reverted', async () => {
    const table = await makeSales('行');
    const exported = await branchOff(['行']);
    ok(await table.remove([1]));
    ok(await table.upsert([{ __svc_row_id: 3, 金額: 33 }]));
    const file = await editBook(exported, (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      sheet.getCell('C2').value = 11;
      sheet.spliceRows(4, 1);
    });
    const { conflicts } = await merge('行', file);
    expect((await table.read()).rows.map((row) => [row.__svc_row_id, row.金額])).toEqual([
      [1, 11],
      [2, '9007199254740993'],
    ]);
    const shown = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/conflicts', listed)).conflicts;
    const ofRows = shown
      .filter(({ id }) => conflicts.includes(id))
      .map(({ row_id, column, prior, current }) => [row_id, column, prior, current]);
    expect(ofRows.sort()).toEqual([
      [1, '__svc_row_id', null, 1],
      [3, '__svc_row_id', 3, null],
    ]);
    for (const conflict_id of conflicts)
      ok(
        await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve', {
          params: { path: { ...listed.params.path, conflict_id } },
          body: { action: 'revert' },
        }),
      );
    expect((await table.read()).rows.map((row) => [row.__svc_row_id, row.金額])).toEqual([
      [2, '9007199254740993'],
      [3, 33],
    ]);
  });

  it('is merged by cell: edits, added and deleted rows, and conflicts that keep what was replaced', async () => {
    const table = await makeSales('売上明細');
    const exported = await branchOff(['売上明細']);
    ok(await table.upsert([{ __svc_row_id: 1, 金額: 1, 得意先: '先に' }]));
    const file = await editBook(exported, (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      sheet.getCell('C2').value = 130000;
      sheet.getCell('E3').value = true;
      sheet.spliceRows(4, 1);
      sheet.addRow([new Date(Date.UTC(2024, 4, 1)), '新規', 5]);
      sheet.name = '名前を変えた';
    });
    const planned = await merge('売上明細', file, 'book.xlsx', '?dry_run=true');
    expect(planned).toMatchObject({ edit_version: 3, op_id: null, inserted: 1, updated: 2, deleted: 1, conflicts: [] });
    expect(planned.planned_conflicts).toEqual([{ row_id: 1, column: '金額', base: 120000, prior: 1, current: 130000 }]);
    expect((await table.read()).edit_version).toBe(3);

    const merged = await merge('売上明細', file);
    expect(merged).toMatchObject({ edit_version: 4, inserted: 1, updated: 2, deleted: 1, unchanged: 0 });
    const after = (await table.read()).rows;
    expect(after.map((row) => [row.__svc_row_id, row.得意先, row.金額, row.済])).toEqual([
      [1, '先に', 130000, true],
      [2, '=1+1', '9007199254740993', true],
      [4, '新規', 5, null],
    ]);
    const open = { params: { ...listed.params, query: { status: 'open' as const } } };
    const { conflicts } = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/conflicts', open));
    expect(conflicts.filter(({ table: name }) => name === '売上明細')).toMatchObject([
      {
        id: merged.conflicts[0],
        table: '売上明細',
        row_id: 1,
        column: '金額',
        kind: 'overwrite',
        status: 'open',
        base: 120000,
        prior: 1,
        current: 130000,
      },
    ]);

    expect(await merge('売上明細', file)).toMatchObject({
      edit_version: 4,
      op_id: null,
      inserted: 0,
      updated: 0,
      deleted: 0,
      conflicts: [],
    });

    const revert = {
      params: { path: { ...listed.params.path, conflict_id: merged.conflicts[0] ?? '' } },
      body: { action: 'revert' as const },
    };
    const resolve = '/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve' as const;
    expect(ok(await world.owner.client.POST(resolve, revert))).toMatchObject({ status: 'reverted', current: 1, edit_version: 5 });
    expect((await table.read()).rows[0]).toMatchObject({ 金額: 1 });
    expect((await world.owner.client.POST(resolve, revert)).response.status).toBe(409);
  });

  it('takes rows and columns in another order, and leaves columns alone that it does not have', async () => {
    const table = await makeSales('順序');
    const { branchId } = await branchOff(['順序'], 'csv');
    const csv = '__svc_row_id,金額,得意先\n3,,x\n1,7,007\n2,9007199254740993,=1+1\n';
    expect(await merge('順序', { branchId, bytes: Buffer.from(csv) }, 'x.csv')).toMatchObject({ updated: 2, inserted: 0, deleted: 0 });
    expect((await table.read()).rows.map((row) => [row.得意先, row.金額, row.日付])).toEqual([
      ['007', 7, '2024-04-01'],
      ['=1+1', '9007199254740993', '2024-04-02'],
      ['x', null, '1868-10-23'],
    ]);
  });

  it('of several tables is merged with sync, by the branch in the file, all or nothing', async () => {
    const [a, b] = [await makeSales('表一'), await makeSales('表二')];
    const exported = await branchOff(['表一', '表二']);
    const wrong = await editBook(exported, (book) => {
      (book.worksheets[0] as ExcelJS.Worksheet).getCell('C2').value = 5;
      (book.worksheets[1] as ExcelJS.Worksheet).getCell('C2').value = 'many';
    });
    expect(await send('/sync', wrong.bytes, {})).toMatchObject({ status: 422, body: { errors: [{ pointer: '/file/表二/2/金額' }] } });
    expect([(await a.read()).edit_version, (await b.read()).edit_version]).toEqual([2, 2]);
    const right = await editBook(exported, (book) => {
      for (const sheet of book.worksheets) sheet.getCell('C2').value = 5;
    });
    const { status, body } = await send('/sync', right.bytes, {});
    expect([status, body]).toMatchObject([
      200,
      {
        branch_id: exported.branchId,
        tables: [
          { name: '表一', updated: 1 },
          { name: '表二', updated: 1 },
        ],
      },
    ]);
    expect([(await a.read()).rows[0]?.金額, (await b.read()).rows[0]?.金額]).toEqual([5, 5]);
  });
});

describe('a conflict', () => {
  const resolve = (conflict_id: string, action: 'acknowledge' | 'revert' | 'drop_override') =>
    world.owner.client.POST('/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve', {
      params: { path: { ...listed.params.path, conflict_id } },
      body: { action, actor: '佐藤' },
    });
  const listIds = async (status: 'open' | 'acknowledged' | 'reverted') => {
    const params = { ...listed.params, query: { status, limit: 1000 } };
    return ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/conflicts', { params })).conflicts.map(({ id }) => id);
  };
  /** Two conflicts in one row: on 得意先 and 金額. */
  const openTwo = async (name: string) => {
    const table = await makeSales(name);
    const exported = await branchOff([name]);
    ok(await table.upsert([{ __svc_row_id: 1, 得意先: '先に', 金額: 1 }]));
    const file = await editBook(exported, (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      sheet.getCell('B2').value = '後に';
      sheet.getCell('C2').value = 2;
    });
    const [first = '', second = ''] = (await merge(name, file)).conflicts;
    return { table, first, second };
  };

  it('is closed once: acknowledged as it is, or reverted as an edit of its own', async () => {
    const { table, first, second } = await openTwo('解決');
    expect(await listIds('open')).toEqual(expect.arrayContaining([first, second]));
    const closed = ok(await resolve(first, 'acknowledge'));
    expect(closed).toMatchObject({
      status: 'acknowledged',
      edit_version: null,
      op_id: null,
      resolved_by: '佐藤',
      resolved_at: expect.any(String),
    });
    expect((await table.read()).edit_version).toBe(4);
    expect(ok(await resolve(second, 'revert'))).toMatchObject({ status: 'reverted', edit_version: 5, op_id: expect.any(Number) });
    for (const id of [first, second])
      for (const action of ['acknowledge', 'revert', 'drop_override'] as const)
        expect([action, (await resolve(id, action)).response.status]).toEqual([action, 409]);
    expect((await table.read()).edit_version).toBe(5);
    expect(await listIds('open')).not.toEqual(expect.arrayContaining([first]));
    expect([await listIds('acknowledged'), await listIds('reverted')]).toEqual([
      expect.arrayContaining([first]),
      expect.arrayContaining([second]),
    ]);
    const { ops } = await world.ops({ limit: 1 });
    expect(ops).toMatchObject([{ kind: 'rows.upsert', actor: '佐藤' }]);
  });

  it('is no override, and is found in its own workbook only', async () => {
    const { first } = await openTwo('違い');
    expect((await resolve(first, 'drop_override')).response.status).toBe(409);
    expect(await listIds('open')).toContain(first);
    expect((await resolve('cfl_01JXQ2V7M0Z8K4T5R6W9A1B201', 'acknowledge')).response.status).toBe(404);
    const other = await makeWorkbookWith(api);
    const answer = await other.owner.client.POST('/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve', {
      params: { path: { workbook_id: other.workbookId, conflict_id: first } },
      body: { action: 'acknowledge' },
    });
    expect(answer.response.status).toBe(404);
  });

  it('whose row or column is gone can only be acknowledged', async () => {
    const { table, first, second } = await openTwo('消えた');
    ok(await table.drop('金額'));
    ok(await table.remove([1]));
    for (const id of [first, second]) expect((await resolve(id, 'revert')).response.status).toBe(409);
    for (const id of [first, second]) expect(ok(await resolve(id, 'acknowledge'))).toMatchObject({ status: 'acknowledged' });
  });

  it('is reverted once by many at the same time', async () => {
    const { table, first } = await openTwo('同時');
    const statuses = (await Promise.all([1, 2, 3].map(() => resolve(first, 'revert')))).map(({ response }) => response.status);
    expect(statuses.sort()).toEqual([200, 409, 409]);
    expect((await table.read()).edit_version).toBe(5);
  });
});

describe('a file that cannot be merged', () => {
  it('is refused with more rows than a merge takes', async () => {
    const table = await makeSales('多すぎ');
    const { branchId } = await branchOff(['多すぎ'], 'csv');
    const bytes = `__svc_row_id,金額\n${',1\n'.repeat(100_001)}`;
    const answer = await send(`/tables/${encodeURIComponent('多すぎ')}/merge`, bytes, { branch_id: branchId }, 'x.csv');
    expect([answer.status, answer.body.detail]).toEqual([413, expect.stringContaining('100000')]);
    expect((await table.read()).edit_version).toBe(2);
  });

  it('is refused without one of its sheets, and taken with renamed and moved ones', async () => {
    const [a, b] = [await makeSales('左'), await makeSales('右')];
    const exported = await branchOff(['左', '右']);
    const edit = (sheet: ExcelJS.Worksheet) => {
      sheet.getCell('C2').value = 5;
    };
    const cut = await editBook(exported, (book) => {
      book.worksheets.forEach(edit);
      book.removeWorksheet((book.worksheets[1] as ExcelJS.Worksheet).id);
    });
    expect(await send('/sync', cut.bytes, {})).toMatchObject({ status: 404, body: { detail: expect.stringContaining('右') } });
    expect([(await a.read()).edit_version, (await b.read()).edit_version]).toEqual([2, 2]);
    const renamed = await editBook(exported, (book) => {
      const [left, right] = book.worksheets as [ExcelJS.Worksheet, ExcelJS.Worksheet];
      edit(right);
      left.name = '別名';
      right.name = '左';
      // Excel has the names follow their sheets; this library does not.
      const follow = (range: string) => range.replace('左', '別名').replace('右', '左');
      book.definedNames.model = book.definedNames.model.map((each) => ({ ...each, ranges: each.ranges.map(follow) }));
      book.addWorksheet('memo').addRow(['x']);
    });
    const { status, body } = await send('/sync', renamed.bytes, {});
    expect([status, body.tables]).toMatchObject([
      200,
      [
        { name: '左', updated: 0 },
        { name: '右', updated: 1 },
      ],
    ]);
    // The mark of one sheet is lost with its name: it is the one that is left.
    const lost = await editBook(exported, (book) => {
      const [left] = book.worksheets as [ExcelJS.Worksheet];
      edit(left);
      left.name = '別名';
      book.addWorksheet('memo').addRow(['x']);
    });
    const again = await send('/sync', lost.bytes, {});
    expect([again.status, again.body.tables]).toMatchObject([
      200,
      [
        { name: '左', updated: 1 },
        { name: '右', updated: 0 },
      ],
    ]);
  });

  const change = async (name: string, edit: (sheet: ExcelJS.Worksheet, book: ExcelJS.Workbook) => void) => {
    const table = await makeSales(name);
    const file = await editBook(await branchOff([name]), (book) => edit(book.worksheets[0] as ExcelJS.Worksheet, book));
    const answer = await send(`/tables/${encodeURIComponent(name)}/merge`, file.bytes, { branch_id: file.branchId });
    expect((await table.read()).edit_version).toBe(2);
    return answer;
  };

  const put =
    (cell: string, value: string | number) =>
    (sheet: ExcelJS.Worksheet): void => {
      sheet.getCell(cell).value = value;
    };

  it.each<[what: string, status: number, detail: RegExp, edit: (sheet: ExcelJS.Worksheet, book: ExcelJS.Workbook) => void]>([
    ['an unknown row id', 422, /names no row of the export/, put('H2', 99)],
    ['a row id twice', 422, /row id of row 2 already/, put('H3', 1)],
    ['a value of another type', 422, /whole number/, put('C2', 'many')],
    ['a new column', 422, /no column of the export/, put('I1', '備考')],
    ['no row ids', 422, /is missing/, (sheet) => void sheet.spliceColumns(8, 1)],
    ['merged cells over data', 422, /merged cells/, (sheet) => void sheet.mergeCells('B2:B3')],
  ])('is refused with %s, and nothing is changed', async (what, status, detail, edit) => {
    const answer = await change(`悪い ${what}`, edit);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(detail)]);
  });

  it('is refused as another workbook, of another branch, encrypted, or without its sheet', async () => {
    const table = await makeSales('別');
    const mine = await branchOff(['別']);
    const other = await makeWorkbookWith(api);
    const theirs = await other.makeTable('別', columns);
    ok(await theirs.upsert(rows));
    const foreign = await branchOff(['別'], 'xlsx', `/api/v1/workbooks/${other.workbookId}`, other.owner.session);
    const path = '/tables/%E5%88%A5/merge';
    expect(await send(path, foreign.bytes, { branch_id: foreign.branchId })).toMatchObject({ status: 404 });
    expect(await send(path, foreign.bytes, { branch_id: mine.branchId })).toMatchObject({ status: 422 });
    expect(await send('/sync', foreign.bytes, {})).toMatchObject({ status: 404 });
    const plain = new ExcelJS.Workbook();
    plain.addWorksheet('one').addRow(['x']);
    plain.addWorksheet('two').addRow(['x']);
    const bytes = Buffer.from(await plain.xlsx.writeBuffer());
    expect(await send(path, bytes, { branch_id: mine.branchId })).toMatchObject({ status: 404 });
    expect(await send('/sync', bytes, {})).toMatchObject({ status: 404 });
    const encrypted = Buffer.concat([Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), Buffer.alloc(2048)]);
    expect(await send(path, encrypted, { branch_id: mine.branchId })).toMatchObject({ status: 415 });
    expect((await table.read()).edit_version).toBe(2);
  });
});
