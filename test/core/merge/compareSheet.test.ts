import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { castValue } from '../../../core/cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../../../core/cells/columnTypes.ts';
import { CellKind, type Grid, PLAIN_STYLE } from '../../../core/grid/grid.ts';
import { SheetComparison } from '../../../core/merge/compareSheet.ts';
import { readFileCell } from '../../../core/merge/fileCell.ts';
import { packRow, type ReturnedRow, unpackRow } from '../../../core/merge/packedRow.ts';
import { sameAsExcel } from '../../../core/merge/sameAsExcel.ts';
import { readGridCells, readTextCells, type SheetCells } from '../../../core/merge/sheetCells.ts';
import { type ByteColumn, encodeBatch } from '../../../core/table/textBatch.ts';

const types = ['BIGINT', 'VARCHAR', 'DECIMAL(6,2)', 'DOUBLE', 'DATE', 'TIMESTAMP', 'BOOLEAN'].map(
  (type) => parseColumnType(type) as ColumnType,
);

type Value = string | number | boolean | null;
/** A row of the sheet; the row id comes first. */
type SheetRow = Value[];

/** The cells below a header, as a reader of workbooks gives them. */
function makeGrid(rows: SheetRow[]): Grid {
  const cells = rows.flatMap((row, i) =>
    row.flatMap((value, column) => (value === null ? [] : [{ row: i + 2, column: column + 1, value }])),
  );
  const kindOf = { string: CellKind.text, number: CellKind.number, boolean: CellKind.boolean };
  const all = [{ row: 1, column: 1, value: '__svc_row_id' as Value }, ...cells];
  const strings = all.map(({ value }) => (typeof value === 'string' ? value : ''));
  return {
    sheet: 'sheet',
    size: all.length,
    rows: Uint32Array.from(all, ({ row }) => row),
    columns: Uint16Array.from(all, ({ column }) => column),
    kinds: Uint8Array.from(all, ({ value }) => kindOf[typeof value as keyof typeof kindOf]),
    numbers: Float64Array.from(all, ({ value }) => Number(typeof value === 'string' ? 0 : value)),
    texts: Int32Array.from(all, ({ value }, i) => (typeof value === 'string' ? i : -1)),
    strings,
    styleIds: new Uint16Array(all.length),
    styles: [PLAIN_STYLE],
    formulaIds: new Int32Array(all.length).fill(-1),
    formulas: [],
    blanks: [],
    merges: [],
    hiddenRows: new Set(),
    hiddenColumns: new Set(),
    listObjects: [],
    names: [],
  };
}

/** The same as a text file, where blank texts are no cells. */
function makeTexts(rows: SheetRow[]): SheetCells {
  const grid = makeGrid(rows.map((row) => row.map((value) => (value === null || value === '' ? null : String(value)))));
  return readTextCells(grid, encodeBatch({ rowCount: grid.size, texts: [grid.strings] }).columns[0] as ByteColumn);
}

const compareAll = (cells: SheetCells, isLoose: boolean, base: Map<number, (string | null)[]>) => {
  const columns = types.map((type, i) => ({ place: i + 1, type, base: i }));
  const comparison = new SheetComparison({ cells, isLoose, rowId: 0, columns });
  const texts = [...types.map((_, i) => [...base.values()].map((row) => row[i] ?? null)), [...base.keys()].map(String)];
  const found = [
    ...comparison.compareAdded(),
    ...comparison.compareBatch(encodeBatch({ rowCount: base.size, texts })),
    ...comparison.compareRest(),
  ];
  return { found: found.map((row) => unpackRow(JSON.parse(JSON.stringify(packRow(row))))), unchanged: comparison.unchanged };
};

const stored = ['7', '支店é😀', '12.30', '0.1', '2024-02-29', '2024-02-29 10:20:30', 'true'];
const exported: SheetRow = ['7', '支店é😀', '12.30', '0.1', '2024-02-29', '2024-02-29T10:20:30', 'true'];

describe('the comparison of a returned sheet with its export', () => {
  it.each([
    ['workbook', (rows: SheetRow[]) => readGridCells(makeGrid(rows)), [7, '支店é😀', 12.3, 0.1, '2024-02-29', '2024-02-29T10:20:30', true]],
    ['text file', makeTexts, exported],
  ])('gives no row of a %s that nobody edited', (what, open, row) => {
    const base = new Map<number, (string | null)[]>([
      [1, stored],
      [5, stored.map(() => null)],
    ]);
    const cells = open([
      [5, ...row.map(() => null)],
      [1, ...row],
    ]);
    expect(compareAll(cells, what === 'text file', base)).toEqual({ found: [], unchanged: 2 });
  });

  it('gives rows that were edited, with what they were, and rows that are missing', () => {
    const base = new Map<number, (string | null)[]>([
      [1, stored],
      [2, stored],
    ]);
    const { found, unchanged } = compareAll(makeTexts([[1, ...exported.with(1, 'edited').with(3, null)]]), true, base);
    expect(unchanged).toBe(0);
    const edits = [
      { column: 1, cell: { kind: 'loose', text: 'edited', fits: true } },
      { column: 3, cell: null },
    ];
    expect(found).toEqual([
      { rowId: 1, base: stored, file: { place: 2, rowId: 1, edits } },
      { rowId: 2, base: stored, file: null },
    ]);
  });

  it('gives added rows, copies and unknown rows, and leaves blank ones out', () => {
    const blank = exported.map(() => null);
    const rows: SheetRow[] = [
      [1, ...exported],
      [1, ...exported],
      [null, 'x', ...blank.slice(1)],
      [null, ...blank],
      ['abc', ...blank],
      [9, ...blank],
    ];
    const { found } = compareAll(readGridCells(makeGrid(rows)), false, new Map([[1, stored]]));
    expect(found.map(({ rowId, file }) => [rowId, file?.place, file?.twin, file?.edits.length])).toEqual([
      [1, 3, 2, types.length],
      [null, 4, undefined, 1],
      ['abc', 6, undefined, 0],
      [9, 7, undefined, 0],
    ]);
    expect(found[1]?.file?.edits).toEqual([{ column: 0, cell: { kind: 'text', text: 'x', fits: false } }]);
  });

  it('finds the same edits as the plain rule, cell by cell', () => {
    const anyText = fc.constantFrom(
      '',
      ' ',
      'x',
      'x ',
      '007',
      '7',
      '7.0',
      '12.3',
      '12.30',
      '0.1',
      '2024-02-29',
      '2024-02-29 10:20:30',
      '2024-02-29T10:20:30',
      'true',
      'TRUE',
      '支店',
      "'=1",
      '=1',
    );
    const anyValue: fc.Arbitrary<Value> = fc.oneof(anyText, fc.constantFrom(7, 12.3, 0.1, 0, 2 ** 53), fc.boolean(), fc.constant(null));
    const anyStored = fc.tuple(
      ...types.map((type) =>
        anyText.map((text) => {
          const cast = castValue(type, text);
          return typeof cast === 'string' ? cast : null;
        }),
      ),
    );
    const anyCase = fc.record({
      base: fc.array(anyStored, { minLength: 1, maxLength: 4 }),
      rows: fc.array(fc.array(anyValue, { minLength: types.length, maxLength: types.length }), { minLength: 1, maxLength: 4 }),
      isLoose: fc.boolean(),
    });
    fc.assert(
      fc.property(anyCase, ({ base: baseRows, rows, isLoose }) => {
        const base = new Map(baseRows.map((row, i) => [i + 1, row]));
        const given = rows.slice(0, base.size);
        const sheet = given.map((row, i): SheetRow => [i + 1, ...row]);
        const grid = isLoose ? null : readGridCells(makeGrid(sheet));
        const { found, unchanged } = compareAll(grid ?? makeTexts(sheet), isLoose, base);
        const expected = given.flatMap((row, i): ReturnedRow[] => {
          const was = base.get(i + 1) as (string | null)[];
          const edits = row.flatMap((value, column) => {
            const cell = readNaively(types[column] as ColumnType, value, isLoose);
            return sameAsExcel(types[column] as ColumnType, was[column] ?? null, cell) ? [] : [{ column, cell }];
          });
          return edits.length === 0 ? [] : [{ rowId: i + 1, base: was, file: { place: i + 2, rowId: i + 1, edits } }];
        });
        expect(found.filter(({ file }) => file)).toEqual(expected);
        expect(unchanged).toBe(given.length - expected.length);
      }),
      { numRuns: 3000 },
    );
  });
});

function readNaively(type: ColumnType, value: Value, isLoose: boolean) {
  if (value === null) return null;
  if (isLoose || typeof value === 'string') return readFileCell(type, { kind: 'text', text: String(value) }, isLoose);
  if (typeof value === 'boolean') return readFileCell(type, { kind: 'boolean', boolean: value });
  return readFileCell(type, { kind: 'number', number: value, numberFormat: 'General' });
}
