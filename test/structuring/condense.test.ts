import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyze, type ParseSpec } from '../../core/structuring/index.ts';
import { inferCells } from '../../core/structuring/sheet/columnValues.ts';
import { condense } from '../../core/structuring/sheet/condense.ts';
import { LONG_LIST_ROWS } from '../../core/structuring/thresholds.ts';
import { inferColumn } from '../../core/types/infer.ts';
import { drawSheet, makeGrid } from './picture.ts';
import { structure } from './structure.ts';

const record = (n: number) => [
  String(n + 1),
  `@2024-${String((n % 12) + 1).padStart(2, '0')}-01`,
  `item ${n % 7}`,
  `${n}.5`,
  n % 3 === 0 ? 'open' : '',
];
const list = (count: number, one = record) => Array.from({ length: count }, (_, n) => one(n));
const header = ['No', 'Day', 'Item', 'Amount', 'State'];
/** Around a list, all of which stays as it is. */
const layouts: [name: string, above: string[][], below: string[][]][] = [
  ['a bare list', [header], []],
  ['a title above', [['Orders of the year'], [], header], []],
  ['two lines of names', [['', '', 'Goods', '', ''], header], []],
  ['notes below', [header], [[], ['Note: without returns'], ['Note: in EUR']]],
  ['another table above', [['Unit', 'Code'], ['piece', '1'], ['box', '2'], [], [], [], [], [], [], [], header], []],
];

/** What does not depend on the number of rows. */
const describeLayout = ({ regions }: ParseSpec) =>
  regions.map(({ kind, name, header_rows, columns, periods, totals }) => ({ kind, name, header_rows, columns, periods, totals }));

describe('condense: a long list', () => {
  it.each(layouts)('is read as a short one: %s', (_, above, below) => {
    const [short, long] = [LONG_LIST_ROWS - above.length - below.length - 50, LONG_LIST_ROWS * 3].map((count) =>
      makeGrid([...above, ...list(count), ...below]),
    );
    if (!short || !long) throw new Error('not drawn');
    expect(condense(short)).toBeNull();
    expect(condense(long)?.grid.size).toBeLessThan(long.size / 2);
    const [few, many] = [analyze([short], 'f.xlsx'), analyze([long], 'f.xlsx')];
    expect(describeLayout(many)).toEqual(describeLayout(few));
    const { result } = structure([long]);
    expect(result.rawSheets).toEqual([]);
    expect(result.conservation[0]).toMatchObject({ lost: [], twice: [] });
    expect(Math.max(...result.tables.map(({ rowCount }) => rowCount))).toBe(LONG_LIST_ROWS * 3);
  });

  it('takes the types from all of its rows', () => {
    const odd = (n: number) => (n === 1500 ? ['1501', '@2024-01-01', 'item', 'unknown', ''] : record(n));
    const { columns } = structure([makeGrid([header, ...list(3000, odd)])]);
    expect(columns('file')).toContain('Amount VARCHAR');
    expect(structure([makeGrid([header, ...list(3000)])]).columns('file')).toContain('Amount DOUBLE');
  });

  it('keeps rows in sight that differ', () => {
    const bold = (n: number) => (n === 1500 ? ['*North'] : record(n));
    const grid = makeGrid([header, ...list(3000, bold)]);
    const { grid: short, originalRow } = condense(grid) ?? {};
    const rows = [...(short?.rows ?? [])].map((row) => originalRow?.(row));
    expect(rows).toContain(1502);
    expect(rows).toContain(1);
    expect(rows).toContain(3001);
    expect(rows).not.toContain(1000);
  });

  it.each([
    ['a total below', [header, ...list(3000), ['', '', 'Total', '4500000', '']]],
    ['figures of another shape below', [header, ...list(3000), [], ['', '', '', '*12', '']]],
    ['totals in between', [header, ...list(3000, (n) => (n === 1500 ? ['1501', '@2024-01-01', 'Total', '5.5', ''] : record(n)))]],
    [
      'a header that comes again',
      [['Name', 'City'], ...list(3000, (n) => (n === 1500 ? ['Name', 'City'] : [`name ${n}`, `city ${n}`])), ['', '1']],
    ],
  ])('is read as a whole with %s', (_, rows) => {
    expect(condense(makeGrid(rows))).toBeNull();
  });

  it('is read as a whole where rows are merged', () => {
    expect(condense(makeGrid([header, ...list(3000)], { merges: ['C1500:C1501'] }))).toBeNull();
  });
});

describe('inferCells', () => {
  const cell = fc.oneof(
    fc.constantFrom(
      '12',
      '-3.5',
      '@2024-04-01',
      "'012",
      "'1.234",
      "'1.234,50",
      "'12,5",
      "'3/4/2024",
      "'13/4/2024",
      "'4/13/2024",
      'TRUE',
      'n/a',
      '-',
      'word',
      "'2024年4月",
    ),
    fc.nat(9).map(String),
  );
  it('says what all values say', () => {
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 12 }), (drawn) => {
        const view = drawSheet(drawn.join('\n'));
        const cells = drawn.map((_, n) => n);
        expect(inferCells(view.grid, [...cells, -1])).toEqual(inferColumn(cells.map((n) => view.value(n))));
      }),
      { numRuns: 500 },
    );
  });
});
