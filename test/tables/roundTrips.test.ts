import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { findLibreOffice, saveWithLibreOffice } from '../setup/libreOffice.ts';
import { findOpenpyxl, runPython } from '../setup/openpyxl.ts';
import { columns, editBook, none, rows, useReturnedFiles } from './returnedFiles.ts';

const { world, branchOff, send, merge, makeSales } = await useReturnedFiles();
const python = findOpenpyxl();
const office = findLibreOffice();
const folder = mkdtempSync(join(tmpdir(), 'merge-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

/** exceljs reads files in pieces of 16 K, and breaks a character of two units that a piece ends in. */
const withoutPairs = (cells: Record<string, unknown>) =>
  JSON.parse(JSON.stringify(cells).replace(/[\ud800-\udfff]/g, '字')) as Record<string, unknown>;

describe('any export that nobody edited', () => {
  it.each(['xlsx', 'csv', 'xlsx by exceljs'])('changes nothing when it comes back as %s', async (way) => {
    const table = await world.makeTable(
      `任意 ${way}`,
      Object.keys(byType).map((type) => ({ name: type, type })),
    );
    const seed = Date.now();
    const cells = fc.sample(way.includes('exceljs') ? anyCells.map(withoutPairs) : anyCells, { numRuns: 400, seed });
    ok(await table.upsert(cells));
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
