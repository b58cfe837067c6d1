import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import type { Grid } from '../../core/grid/grid.ts';
import { encodeBatch } from '../../core/table/textBatch.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { chooseSheetNames } from '../../store/xlsx/write/chooseNames.ts';
import type { BatchExtras, CellExtra, SheetColumn } from '../../store/xlsx/write/sheetWriter.ts';
import { WorkbookWriter } from '../../store/xlsx/write/workbookWriter.ts';
import { ZipWriter } from '../../store/xlsx/write/zipWriter.ts';
import { findOpenpyxl, runPython } from '../setup/openpyxl.ts';
import { cellsOf, formulasOf } from './makeWorkbook.ts';

const found = findOpenpyxl();
const python = found ?? '';
const folder = mkdtempSync(join(tmpdir(), 'xlsx-writer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const columnOf = (name: string, type: string): SheetColumn => ({ name, type: parseColumnType(type) as ColumnType });

interface Wanted {
  name: string;
  columns: SheetColumn[];
  rows: (string | null)[][];
  extras?: BatchExtras;
}

async function writeBook(sheets: Wanted[], properties: { name: string; value: string }[] = []): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const writer = new WorkbookWriter(async (bytes) => void pieces.push(Buffer.from(bytes)));
  for (const { name, columns, rows, extras } of sheets) {
    const sheet = await writer.openSheet({ name, columns });
    const texts = columns.map((_, i) => rows.map((row) => row[i] ?? null));
    if (rows.length > 0) await sheet.write(encodeBatch({ rowCount: rows.length, texts }), extras);
    await sheet.end();
  }
  await writer.finish({ properties });
  return Buffer.concat(pieces);
}

async function readFirst(book: Buffer | string): Promise<Grid> {
  const [sheet] = (await readWorkbook(book)).sheets;
  if (!sheet) throw new Error('the workbook has no sheet');
  return sheet;
}

async function readWithExcelJs(bytes: Buffer, sheet: string): Promise<ExcelJS.Worksheet> {
  const book = new ExcelJS.Workbook();
  // Small buffers share their memory with others.
  await book.xlsx.load(new Uint8Array(bytes).buffer);
  const found = book.getWorksheet(sheet);
  if (!found) throw new Error(`the workbook has no sheet ${sheet}`);
  return found;
}

function save(bytes: Uint8Array): string {
  const path = join(folder, `${Math.random()}.xlsx`);
  writeFileSync(path, bytes);
  return path;
}

const typed: Wanted = {
  name: '型',
  columns: [
    columnOf('文字', 'VARCHAR'),
    columnOf('整数', 'BIGINT'),
    columnOf('実数', 'DOUBLE'),
    columnOf('金額', 'DECIMAL(20,2)'),
    columnOf('真偽', 'BOOLEAN'),
    columnOf('日', 'DATE'),
    columnOf('時刻', 'TIMESTAMP'),
    columnOf('時', 'TIME'),
    columnOf('JSON', 'JSON'),
  ],
  rows: [
    ['日本語 😀', '42', '0.1', '1234.50', 'true', '2024-02-29', '2024-02-29 13:45:30', '08:30:00', '{"a":1}'],
    ['001', '-999999999999999', '1e+20', '-0.01', 'false', '1900-03-01', '1999-12-31 23:59:59.123', '23:59:59', '[1]'],
    [null, null, null, null, null, null, null, null, null],
    ['=1+1', '9223372036854775807', 'nan', '123456789012345678.90', 'true', '1899-12-31', '0001-01-01 00:00:00', '00:00:00', 'null'],
    [' 端 \n<&>"_x000D_\r\u0001', '0', '-inf', '0.00', 'false', '1900-01-01', '9999-12-31 00:00:00', '24:00:00', '""'],
  ],
};

const readBack = {
  A1: '文字',
  A2: '日本語 😀',
  B2: 42,
  C2: 0.1,
  D2: 1234.5,
  E2: true,
  F2: { date: '2024-02-29T00:00:00' },
  G2: { date: '2024-02-29T13:45:30' },
  I2: '{"a":1}',
  A3: '001',
  B3: -999999999999999,
  C3: 1e20,
  D3: -0.01,
  E3: false,
  F3: { date: '1900-03-01T00:00:00' },
  G3: { date: '1999-12-31T23:59:59.123Z' },
  A5: '=1+1',
  B5: '9223372036854775807',
  D5: '123456789012345678.90',
  F5: '1899-12-31',
  G5: '0001-01-01 00:00:00',
  A6: ' 端 \n<&>"_x000D_\r\u0001',
  F6: { date: '1900-01-01T00:00:00' },
};

describe('WorkbookWriter', () => {
  it('writes every type so that our reader finds the values again', async () => {
    const grid = await readFirst(await writeBook([typed]));
    const cells = cellsOf(grid);
    expect(grid.sheet).toBe('型');
    expect(cells).toMatchObject(readBack);
    for (const empty of ['A4', 'I4', 'C5', 'C6']) expect(cells[empty]).toBeUndefined();
  });

  it('is read by exceljs: values, formats, header, widths', async () => {
    const sheet = await readWithExcelJs(await writeBook([typed]), '型');
    expect(sheet.getCell('A2').value).toBe('日本語 😀');
    expect(sheet.getCell('F2').value).toEqual(new Date('2024-02-29T00:00:00Z'));
    expect(sheet.getCell('A2').numFmt).toBe('@');
    expect(sheet.getCell('D2').numFmt).toBe('0.00');
    expect(sheet.getCell('F2').numFmt).toBe('yyyy-mm-dd');
    expect(sheet.getCell('G3').numFmt).toBe('yyyy-mm-dd hh:mm:ss.000');
    expect(sheet.getCell('A1').font?.bold).toBe(true);
    expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1 });
    expect(sheet.autoFilter).toBe('A1:I6');
    expect(sheet.getColumn(7).width).toBeGreaterThan(19);
  });

  it.skipIf(!found)('is read by openpyxl, which finds no formula in texts', async () => {
    const path = save(await writeBook([typed], [{ name: 'svc_branch_id', value: 'brn_1' }]));
    const script = `
import sys, json, openpyxl
book = openpyxl.load_workbook(sys.argv[1])
sheet = book.active
print(json.dumps({'cells': {c.coordinate: str(c.value) for row in sheet.iter_rows() for c in row if c.value is not None},
  'types': {c.coordinate: c.data_type for c in sheet[5]}, 'quoted': sheet['A5'].quotePrefix,
  'freeze': sheet.freeze_panes, 'properties': {p.name: p.value for p in book.custom_doc_props.props}}))`;
    const read = await runPython<{
      cells: Record<string, string>;
      types: Record<string, string>;
      quoted: boolean;
      freeze: string;
      properties: unknown;
    }>(python, script, path);
    expect(read.cells).toMatchObject({
      A2: '日本語 😀',
      B2: '42',
      F2: '2024-02-29 00:00:00',
      G2: '2024-02-29 13:45:30',
      H2: '08:30:00',
      A5: '=1+1',
      B5: '9223372036854775807',
    });
    expect(read.types.A5).not.toBe('f');
    expect(read).toMatchObject({ quoted: true, freeze: 'A2', properties: { svc_branch_id: 'brn_1' } });
  });

  it.skipIf(!found)('survives a change by openpyxl', async () => {
    const path = save(await writeBook([typed, { ...typed, name: '二' }], [{ name: 'svc_branch_id', value: 'brn_1' }]));
    const script = `
import sys, openpyxl
book = openpyxl.load_workbook(sys.argv[1])
book['型']['B2'] = 43
book.save(sys.argv[1])`;
    await runPython(python, script, path);
    const { sheets } = await readWorkbook(path);
    expect(sheets.map(({ sheet }) => sheet)).toEqual(['型', '二']);
    expect(cellsOf(await readFirst(path))).toMatchObject({ ...readBack, B2: 43 });
  });

  it('gives cells looks and formulas', async () => {
    const rows = [
      ['a', '1'],
      [null, '2'],
    ];
    const extras: BatchExtras = new Map<number, Map<number, CellExtra>>([
      [0, new Map([[1, { formula: 'SUM(B3:B3)-1', look: { bold: true, color: '#FF0000', numberFormat: '#,##0' } }]])],
      [
        1,
        new Map<number, CellExtra>([
          [0, { look: { background: '#00FF00', align: 'center' } }],
          [1, { formula: 'IF(A2="a",2,"<")' }],
        ]),
      ],
    ]);
    const columns = [columnOf('t', 'VARCHAR'), { ...columnOf('n', 'BIGINT'), look: { italic: true } }];
    const bytes = await writeBook([{ name: 's', columns, rows, extras }]);
    expect(formulasOf(await readFirst(bytes))).toEqual({ B2: 'SUM(B3:B3)-1', B3: 'IF(A2="a",2,"<")' });
    const sheet = await readWithExcelJs(bytes, 's');
    expect(sheet.getCell('B2').style).toMatchObject({ font: { bold: true, italic: true, color: { argb: 'FFFF0000' } }, numFmt: '#,##0' });
    expect(sheet.getCell('B3').style).toMatchObject({ font: { italic: true }, numFmt: '0' });
    expect(sheet.getCell('A3').style).toMatchObject({ fill: { fgColor: { argb: 'FF00FF00' } }, alignment: { horizontal: 'center' } });
  });

  it('writes tables without rows, and without columns', async () => {
    const { sheets } = await readWorkbook(
      await writeBook([
        { ...typed, rows: [] },
        { name: 'leer', columns: [], rows: [] },
      ]),
    );
    expect(sheets.map(({ size }) => size)).toEqual([9, 0]);
  });

  it('refuses a text that no cell can hold', async () => {
    const rows = [['x'.repeat(32_768)]];
    await expect(writeBook([{ name: 's', columns: [columnOf('t', 'VARCHAR')], rows }])).rejects.toThrow('A2');
  });

  it('gives back any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 20 }),
        async (texts) => {
          // Cells with nothing but blanks are no cells to our reader, and it drops U+0000, which no table has.
          const rows = texts.map((text) => [`x${text.replaceAll('\0', '')}`]);
          const cells = cellsOf(await readFirst(await writeBook([{ name: 's', columns: [columnOf('t', 'VARCHAR')], rows }])));
          expect(texts.map((_, i) => cells[`A${i + 2}`])).toEqual(rows.flat());
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('chooseSheetNames', () => {
  const cases: [given: string[], chosen: string[]][] = [
    [
      ['売上', '経費'],
      ['売上', '経費'],
    ],
    [
      ['a/b', 'a:b', "'a'"],
      ['a_b', 'a_b (2)', '_a_'],
    ],
    [
      ['Sales', 'SALES'],
      ['Sales', 'SALES (2)'],
    ],
    [
      ['ｱｲｳ', 'アイウ', 'あいう'],
      ['ｱｲｳ', 'アイウ (2)', 'あいう (3)'],
    ],
    [
      ['あ'.repeat(40), 'あ'.repeat(41)],
      ['あ'.repeat(31), `${'あ'.repeat(27)} (2)`],
    ],
    [[`${'a'.repeat(30)}😀`], ['a'.repeat(30)]],
    [
      ['History', '履歴'],
      ['History_', '履歴_'],
    ],
    [[`${'a'.repeat(30)}'b`], [`${'a'.repeat(30)}_`]],
  ];
  it.each(cases)('%j', (given, chosen) => {
    expect(chooseSheetNames(given)).toEqual(chosen);
  });

  it('are valid and unique, whatever the names are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 30 }), (given) => {
        const chosen = chooseSheetNames(given);
        for (const name of chosen) expect(name).toMatch(/^(?!')[^[\]:*?/\\]{1,31}(?<!')$/);
        expect(new Set(chosen.map((name) => name.toLowerCase())).size).toBe(given.length);
      }),
    );
  });
});

describe('ZipWriter', () => {
  async function writeZip(long: boolean): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    const zip = new ZipWriter(async (bytes) => void pieces.push(Buffer.from(bytes)));
    const entry = await zip.openEntry('日本/a.txt', { long });
    for (let i = 0; i < 100; i += 1) await entry.write(`${i} `.repeat(10_000));
    await entry.end();
    await zip.addEntry('b.txt', 'b');
    await zip.finish();
    return Buffer.concat(pieces);
  }
  const script = `
import sys, json, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps({'bad': archive.testzip(), 'names': archive.namelist(), 'size': archive.getinfo('日本/a.txt').file_size,
  'last': archive.read('日本/a.txt')[-3:].decode(), 'b': archive.read('b.txt').decode()}))`;

  it.skipIf(!found).each([false, true])('is read by Python; zip64: %s', async (long) => {
    const read = await runPython(python, script, save(await writeZip(long)));
    expect(read).toEqual({ bad: null, names: ['日本/a.txt', 'b.txt'], size: 2_900_000, last: '99 ', b: 'b' });
  });
});
