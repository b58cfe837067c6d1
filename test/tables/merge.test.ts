import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { columns, editBook, rows, useReturnedFiles } from './returnedFiles.ts';
import { makeWorkbookWith } from './tableDriver.ts';

const { api, world, branchOff, send, merge, makeSales } = await useReturnedFiles();

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

  it.each(['xlsx', 'csv'])('finds columns again that are named like formulas, in %s', async (format) => {
    const name = `式 ${format}`;
    const table = await world.makeTable(name, [{ name: '=a' }, { name: '-b', type: 'DOUBLE' }]);
    ok(await table.upsert([{ '=a': '@x', '-b': -1.5 }]));
    const unchanged = { op_id: null, inserted: 0, updated: 0, deleted: 0, unchanged: 1 };
    expect(await merge(name, await branchOff([name], format), `x.${format}`)).toMatchObject(unchanged);
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

  it('of long rows is compared in several parts', async () => {
    const table = await world.makeTable('長い行', [{ name: 'a' }, { name: 'b' }]);
    const count = 2500;
    ok(await table.upsert(Array.from({ length: count }, (_, row) => ({ a: 'あ'.repeat(600), b: `${row}` }))));
    const exported = await branchOff(['長い行'], 'csv');
    const lines = exported.bytes.toString().trimEnd().split(/\r?\n/);
    const edited = lines.map((line, i) =>
      i === 1 || i === 1500 ? line.replace(/^[^,]*/, 'edited') : i === count ? line.replace(/\d+$/, '') : line,
    );
    // The last row comes back without its id.
    const merged = await merge('長い行', { ...exported, bytes: Buffer.from(edited.join('\n')) }, 'x.csv');
    expect(merged).toMatchObject({ updated: 2, inserted: 1, deleted: 1, unchanged: count - 3 });
    expect((await table.read({ filter: "a = 'edited'" })).rows.map(({ b }) => b)).toEqual(['0', '1499']);
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
