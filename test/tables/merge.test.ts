import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
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
    expect(conflicts).toMatchObject([
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

describe('a file that cannot be merged', () => {
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
