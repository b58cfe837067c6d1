import { describe, expect, it } from 'vitest';
import { regionOfTable } from '../../../core/review/placeTables.ts';
import type { Region, Value } from '../../../core/review/region.ts';
import { reviewRegion } from '../../../core/review/reviewRegion.ts';
import { isSlip } from '../../../core/review/slips.ts';

/** A table of rows whose first line names the columns. */
function makeRegion([names, ...rows]: [string[], ...Value[][]], more: Partial<Region> = {}): Region {
  const columns = names.map((name) => ({ name, type: 'VARCHAR' }));
  const ids = rows.map((_, k) => k + 1);
  return { ...regionOfTable('t', columns, rows, ids), ...more };
}

function tell(region: Region) {
  return reviewRegion(region).map(({ rule, severity, evidence }) => ({
    rule,
    severity,
    cells: evidence.flatMap(({ rowId, column }) => (rowId === undefined ? [] : [`${column}${rowId}`])),
    values: evidence.map(({ value }) => value),
  }));
}

/** Rows of people: a name, a number that differs, a day of one month. */
function listPeople(count: number, change: (row: Value[], k: number) => Value[] = (row) => row): Value[][] {
  return Array.from({ length: count }, (_, k) =>
    change([`Person ${String.fromCharCode(65 + k)}`, 1000 + ((k * 377) % 900), `2024-03-${10 + k}`], k),
  );
}

const people = ['name', 'pay', 'day'];

describe('totals', () => {
  const parts: Value[][] = [
    ['north', 1210, 3350, 871],
    ['south', 2450, 1290, 644],
    ['west', 3107, 2208, 905],
  ];
  const names = ['region', 'q1', 'q2', 'q3'];
  it.each<[string, Value[][], string[] | null]>([
    ['that add up', [...parts, ['Total', 6767, 6848, 2420]], null],
    ['below the parts', [...parts, ['Total', 6767, 6884, 2420]], ['q24', 'q21', 'q22', 'q23']],
    ['above the parts', [['Total', 6767, 6848, 2240], ...parts], ['q31', 'q32', 'q33', 'q34']],
    ['without a name', [...parts, ['all of it', 6767, 6848, 2240]], ['q34']],
    ['of which a column is an average', [...parts, ['Total', 6767, 6848, 806]], null],
    ['off by rounding', [...parts, ['Total', 6767, 6849, 2420]], null],
  ])('%s', (_, rows, cells) => {
    const [found] = tell(makeRegion([names, ...rows])).filter(({ rule }) => rule === 'total-mismatch');
    if (cells === null) return expect(found).toBeUndefined();
    expect(found?.severity).toBe('error');
    expect(found?.cells).toEqual(expect.arrayContaining(cells));
  });

  it('tells the number that is stated and the one that is computed', () => {
    const [found] = reviewRegion(makeRegion([names, ...parts, ['Total', 6767, 6884, 2420]]));
    expect(found?.evidence.slice(0, 2)).toEqual([
      { rowId: 4, column: 'q2', value: 6884 },
      { column: 'q2', value: 6848 },
    ]);
    expect(found?.message).toContain('6,884 is stated, the 3 parts add up to 6,848');
  });

  it('counts what has a subtotal once', () => {
    const rows: Value[][] = [
      ['a', 1210, 3350, 500],
      ['b', 2450, 1290, 417],
      ['Subtotal', 3660, 4640, 917],
      ['c', 4107, 2208, 388],
      ['d', 5111, 1777, 601],
      ['Subtotal', 9218, 3985, 989],
      ['Grand total', 12878, 8265, 1906],
    ];
    const found = tell(makeRegion([['item', 'x', 'y', 'z'], ...rows])).filter(({ rule }) => rule === 'total-mismatch');
    expect(found).toMatchObject([{ severity: 'error', values: [8265, 8625, 3985, 4640] }]);
  });

  it('across the columns', () => {
    const rows = Array.from({ length: 8 }, (_, k): Value[] => [`item ${k}`, 1200 + 37 * k, 3301 - 91 * k, k === 5 ? 4199 : 4501 - 54 * k]);
    expect(tell(makeRegion([['item', 'first', 'second', 'total'], ...rows])).filter(({ rule }) => rule === 'total-mismatch')).toMatchObject(
      [{ severity: 'error', cells: ['total6', 'second6', 'first6'] }],
    );
  });

  it.each([
    [6884, 6848, true],
    [684, 6848, true],
    [68488, 6848, true],
    [6848.5, 68485, true],
    [7848, 6848, true],
    [7858, 6848, false],
    [-6848, 6848, false],
    [12, 13, false],
  ])('a slip of the finger makes %d of %d: %s', (stated, meant, expected) => {
    expect(isSlip(stated, meant)).toBe(expected);
  });
});

describe('rules', () => {
  const even = (k: number) => `2023-${String(k + 1).padStart(2, '0')}-01`;
  it.each<[string, Region, { rule: string; severity: string; cells: string[] }]>([
    [
      'a row that stands there twice',
      makeRegion([people, ...listPeople(9), ['Person C', 1754, '2024-03-12']]),
      { rule: 'duplicate-rows', severity: 'error', cells: ['name3', 'pay3', 'day3', 'name10', 'pay10', 'day10'] },
    ],
    [
      'a row that is shifted to the right',
      makeRegion([
        [...people, 'rest'],
        ...listPeople(12, (row, k) => (k === 4 ? ['Person E', null, row[1] ?? null, row[2] ?? null] : [...row, null])),
      ]),
      { rule: 'shifted-columns', severity: 'error', cells: ['day5', 'rest5'] },
    ],
    [
      'a row that is shifted to the left',
      makeRegion([['no', ...people], ...listPeople(14, (row, k) => (k === 4 ? [...row, null] : [`K${k}x`, ...row]))]),
      { rule: 'shifted-columns', severity: 'error', cells: ['name5', 'pay5'] },
    ],
    [
      'a text among numbers',
      makeRegion([people, ...listPeople(12, (row, k) => (k === 7 ? [row[0] ?? null, 'unknown', row[2] ?? null] : row))]),
      { rule: 'mixed-types', severity: 'warning', cells: ['pay8'] },
    ],
    [
      'a key that is given twice',
      makeRegion([['order_id', 'pay'], ...Array.from({ length: 14 }, (_, k): Value[] => [k === 9 ? 'A-103' : `A-10${k}`, 911 + 83 * k])]),
      { rule: 'duplicate-keys', severity: 'warning', cells: ['order_id4', 'order_id10'] },
    ],
    [
      'a number in another unit',
      makeRegion([people, ...listPeople(20, (row, k) => (k === 7 ? [row[0] ?? null, 1_500_000, row[2] ?? null] : row))]),
      { rule: 'outliers', severity: 'warning', cells: ['pay8'] },
    ],
    [
      'a month that is missing',
      makeRegion([['month', 'sales'], ...[0, 1, 2, 3, 5, 6, 7].map((k): Value[] => [even(k), 500 + 31 * k])]),
      { rule: 'broken-periods', severity: 'warning', cells: ['month4', 'month5'] },
    ],
    [
      'a year that is missing among the columns',
      makeRegion([
        ['item', '2018', '2019', '2020', '2022', '2023', '2024'],
        ['rent', 10, 11, 12, 14, 15, 16],
        ['food', 7, 8, 9, 5, 6, 4],
      ]),
      { rule: 'broken-periods', severity: 'warning', cells: ['20201', '20221'] },
    ],
    [
      'a blank cell in a full column',
      makeRegion([people, ...listPeople(12, (row, k) => (k === 3 ? [row[0] ?? null, null, row[2] ?? null] : row))]),
      { rule: 'suspicious-blanks', severity: 'warning', cells: ['pay4'] },
    ],
    [
      'a column that goes on in thousands',
      makeRegion([['month', 'sales'], ...Array.from({ length: 12 }, (_, k): Value[] => [even(k), (500 + 13 * k) * (k < 6 ? 1000 : 1)])]),
      { rule: 'unit-changes', severity: 'warning', cells: ['sales6', 'sales7'] },
    ],
    [
      'a name in two widths',
      makeRegion([
        ['customer', 'pay'],
        ['株式会社アクメ', 120],
        ['ｱｸﾒ', 311],
        ['東京商事', 98],
        ['東京商事', 77],
      ]),
      { rule: 'near-duplicate-labels', severity: 'warning', cells: ['customer2', 'customer1'] },
    ],
    [
      'a name with a letter less than one that comes often',
      makeRegion([['city', 'pay'], ...Array.from({ length: 12 }, (_, k): Value[] => [k === 5 ? 'Amsterdm' : 'Amsterdam', 100 + k * k])]),
      { rule: 'near-duplicate-labels', severity: 'warning', cells: ['city6', 'city1'] },
    ],
    [
      'a year that nobody means',
      makeRegion([people, ...listPeople(12, (row, k) => (k === 2 ? [row[0] ?? null, row[1] ?? null, '0204-03-12'] : row))]),
      { rule: 'dates-out-of-range', severity: 'error', cells: ['day3'] },
    ],
    [
      'a date far from all others',
      makeRegion([people, ...listPeople(12, (row, k) => (k === 2 ? [row[0] ?? null, row[1] ?? null, '1924-03-12'] : row))]),
      { rule: 'dates-out-of-range', severity: 'warning', cells: ['day3'] },
    ],
    [
      'a constant among formulas',
      makeRegion([['item', 'sum'], ...Array.from({ length: 8 }, (_, k): Value[] => [`item ${k}`, 100 + 7 * k])], {
        formulaAt: (row, column) =>
          column === 1 && row !== 3 ? { formula: `B${row + 2}*C${row + 2}`, row: row + 2, column: 4, isEdited: false } : null,
      }),
      { rule: 'overwritten-formulas', severity: 'warning', cells: ['sum4'] },
    ],
  ])('%s', (_, region, expected) => {
    expect(tell(region)).toContainEqual(expect.objectContaining({ ...expected, cells: expect.arrayContaining(expected.cells) }));
  });

  it.each<[string, Region]>([
    ['a plain list', makeRegion([people, ...listPeople(14)])],
    ['years that rise', makeRegion([['year', 'rate'], ...Array.from({ length: 20 }, (_, k): Value[] => [1990 + k, 5.8])])],
    [
      'names that differ by a number',
      makeRegion([['item', 'pay'], ...Array.from({ length: 12 }, (_, k): Value[] => [`section ${k % 6}`, 100 + k * k])]),
    ],
    ['nothing', makeRegion([people])],
  ])('%s has no errors', (_, region) => {
    expect(tell(region).filter(({ severity }) => severity !== 'info')).toEqual([]);
  });
});
