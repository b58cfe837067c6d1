import { describe, expect, it } from 'vitest';
import { placeTables, regionOfTable } from '../../../core/review/placeTables.ts';
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
  /** The third is the sum of the first two. */
  const nested: Value[][] = [
    ['a', 1210, 2013, 1771],
    ['b', 2450, 1138, 1387],
    ['a and b', 3660, 3151, 3158],
    ['c', 2877, 2676, 2776],
  ];
  const names = ['region', 'q1', 'q2', 'q3'];
  it.each<[string, Value[][], string[] | null]>([
    ['that add up', [...parts, ['Total', 6767, 6848, 2420]], null],
    ['below the parts', [...parts, ['Total', 6767, 6884, 2420]], ['q24', 'q21', 'q22', 'q23']],
    ['above the parts', [['Total', 6767, 6848, 2240], ...parts], ['q31', 'q32', 'q33', 'q34']],
    ['without a name', [...parts, ['all of it', 6767, 6848, 2240]], ['q34']],
    ['of which a column is an average', [...parts, ['Total', 6767, 6848, 806]], null],
    ['off by rounding', [...parts, ['Total', 6767, 6849, 2420]], null],
    ['far too small', [...parts, ['Total', 6767, 684, 2420]], ['q24']],
    ['that count a part with its own parts', [...nested, ['Total', 10197, 8978, 9092], ['', 1, 1, 1]], null],
    ['that count a part with its own parts, and are wrong', [...nested, ['Total', 10197, 8987, 9092]], ['q25']],
    // One relation in three places, none of which is new.
    [
      'that are the same by chance',
      [
        ['a', 0.1, 0.1, 0.1],
        ['b', 0.4, 0.4, 0.4],
        ['c', 0.5, 0.5, 0.7],
      ],
      null,
    ],
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

  it.each<[string, Value[][]]>([
    [
      'less than one of ten thousand',
      [
        ['a', 910_210, 1_350, 30_871],
        ['b', 82_450, 1_290, 20_644],
        ['Total', 992_660, 2_640, 51_512],
      ],
    ],
    [
      'one of the last digit that is written',
      [
        ['a', 1210, 3350, 246_000],
        ['b', 2450, 1290, 136_000],
        ['Total', 3660, 4640, 383_000],
      ],
    ],
  ])('only warns where a total is off by %s', (_, rows) => {
    const found = tell(makeRegion([names, ...rows])).filter(({ rule }) => rule === 'total-mismatch');
    expect(found).toMatchObject([{ severity: 'warning' }]);
  });

  it('tells once that a relation fails often', () => {
    const rows = Array.from({ length: 60 }, (_, k): Value[] => [
      `item ${k}`,
      1200 + 37 * k,
      3301 - 41 * k,
      4501 - 4 * k + (k % 12 === 5 ? 813 : 0),
    ]);
    const found = tell(makeRegion([['item', 'first', 'second', 'total'], ...rows])).filter(({ rule }) => rule === 'total-mismatch');
    expect(found).toMatchObject([{ severity: 'warning' }]);
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
    [1856654, 185654.1, true],
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
      'a row of a small table that is shifted',
      makeRegion([
        ['date', 'guest', 'goals', 'host', 'saves', 'place'],
        ['2024-03-10', 'Toronto', 3, 'Rochester', 2, 'Arena'],
        ['2024-03-11', 'Toronto', 'Rochester', 5, 'Arena', null],
        ['2024-03-12', 'Rochester', 4, 'Toronto', 1, 'Coliseum'],
        ['2024-03-13', 'Rochester', 2, 'Toronto', 6, 'Coliseum'],
      ]),
      { rule: 'shifted-columns', severity: 'error', cells: ['goals2', 'host2', 'saves2'] },
    ],
    [
      'a shifted row of numbers whose columns differ in size within each row',
      makeRegion([
        ['land', 'people', 'homes', 'schools', 'cars', 'bridges', 'roads'],
        ...Array.from({ length: 9 }, (_, k): Value[] => {
          const own = [8_000_013, 300_017, 1_003, 90_007, 53, 6_011].map((size) => size * 7 ** (k % 4) + k);
          return [`land ${k}`, ...(k === 4 ? [own[0] ?? null, ...own.slice(2), null] : own)];
        }),
      ]),
      { rule: 'shifted-columns', severity: 'error', cells: ['homes5', 'schools5', 'cars5', 'bridges5'] },
    ],
    [
      'the one blank cell of a small table',
      makeRegion([
        ['item', 'a', 'b', 'c'],
        ['rent', 310, 355, 340],
        ['food', 120, 131, null],
        ['fuel', 190, 170, 144],
      ]),
      { rule: 'suspicious-blanks', severity: 'warning', cells: ['c2'] },
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
    [
      'cells that say that nothing is known',
      makeRegion([people, ...listPeople(12, (row, k) => (k === 3 ? [row[0] ?? null, null, row[2] ?? null] : row))], {
        isSign: (row, column) => row === 3 && column === 1,
      }),
    ],
    [
      'two blank cells in different rows of a small table',
      makeRegion([
        ['item', 'a', 'b'],
        ['rent', 310, null],
        ['food', null, 131],
        ['fuel', 190, 170],
      ]),
    ],
  ])('%s has no errors', (_, region) => {
    expect(tell(region).filter(({ severity }) => severity !== 'info')).toEqual([]);
  });
});

describe('tables put in their places', () => {
  /** One row under a header of eight columns: each cell one column further to the right from the fourth on. */
  const names = ['date', 'number', 'guest', 'goals', 'host', 'saves', 'state', 'place', 'column9'];
  const row: Value[] = ['2013-01-28', 2013, 'West', null, 7, 'East', 6, 'Final', 'Arena'];
  const placed = {
    name: 'games',
    columns: names.map((name) => ({ name, type: 'VARCHAR' })),
    rows: [row],
    rowIds: [1],
    periodColumn: -1,
    cells: row.flatMap((value, column) => (value === null ? [] : [{ row: 0, column, sheetRow: 3, sheetColumn: column + 1 }])),
  };

  it('keep the columns in which nothing stands', () => {
    const region = placeTables('games', [placed]);
    expect(region.columns.map(({ name }) => name)).toEqual(names);
    expect(region.columns.map(({ isNameless }) => isNameless).indexOf(true)).toBe(8);
    expect(region.locate(0, 3)).toEqual({ table: 'games', rowId: 1, column: 'goals', cell: 'D3' });
  });

  it('tell of a cell behind the last header', () => {
    expect(tell(placeTables('games', [placed]))).toContainEqual(
      expect.objectContaining({ rule: 'shifted-columns', severity: 'warning', cells: ['column91', 'goals1'] }),
    );
  });

  it('tell a sign for no value from a blank cell', () => {
    const cells = [...placed.cells, { row: 0, column: 3, sheetRow: 3, sheetColumn: 4 }];
    const region = placeTables('games', [{ ...placed, cells }]);
    expect([region.isSign?.(0, 3), region.isSign?.(0, 4)]).toEqual([true, false]);
    expect(tell(region).filter(({ rule }) => rule === 'shifted-columns')).toEqual([]);
  });
});
