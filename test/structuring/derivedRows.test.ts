import { describe, expect, it } from 'vitest';
import { readDerivedFormula } from '../../core/structuring/reports/derivedFormulas.ts';
import { expressionOf } from '../../core/structuring/reports/expression.ts';
import { readReport } from '../../core/structuring/reports/hierarchy.ts';
import { isLong } from '../../core/structuring/reports/longFigures.ts';
import { readTableRows } from '../../core/structuring/reports/tableRows.ts';
import { drawSheet, usedRange } from './picture.ts';

function read(rows: (string | number)[][]) {
  const view = drawSheet(rows.map((row) => row.join('|')).join('\n'));
  return readReport(view, readTableRows(view, usedRange(view), 1));
}

/** Labels of the rows that are computed and are no sums. */
const computedOf = (rows: (string | number)[][]) =>
  read(rows)
    .rows.filter(({ role }) => role === 'computed')
    .map(({ label, row }) => label || `row ${row}`);

const months: [string, number, number, number][] = [
  ['4月', 413.37, 240, 472],
  ['5月', 449.74, 265, 494],
  ['6月', 540.13, 326.67, 501],
];
const meanOf = (column: 1 | 2 | 3) => months.reduce((sum, month) => sum + month[column], 0) / months.length;

describe('isLong', () => {
  it.each([
    [1 / 3, true],
    [524.0183333333333, true],
    [0.1 + 0.2, false],
    [242981.6399999999, false],
    [12.345678, false],
    [9007199254740991, false],
  ])('%d: %s', (value, expected) => expect(isLong(value)).toBe(expected));
});

describe('linkMeans', () => {
  it.each<[string, (string | number)[][], string[]]>([
    ['the mean of the rows right above, whatever it is called', [...months, ['第1四半期', meanOf(1), meanOf(2), meanOf(3)]], ['第1四半期']],
    [
      'a rounded one stays: it may be a price as well',
      [...months, ['第1四半期', ...([1, 2, 3] as const).map((c) => Number(meanOf(c).toFixed(2)))]],
      [],
    ],
    ['rows that are all the same stay', ['東', '西', '南', '北'].map((name) => [name, 1 / 3, 2 / 3, 1 / 7]), []],
    [
      'under labels that come again it stays',
      [
        ...months,
        ['年度', meanOf(1), meanOf(2), meanOf(3)],
        ...months.map(([name, ...values]) => [`次の${name}`, ...values]),
        ['年度', 1, 2, 3],
      ],
      [],
    ],
  ])('%s', (_, rows, expected) => expect(computedOf(rows)).toEqual(expected));
});

describe('linkQuotients', () => {
  it.each<[string, (string | number)[][], string[]]>([
    [
      'a share without a name below its row',
      [
        ['歳出', 16015657, 18004409, 19996228],
        ['警察', 4331596, 4818212, 5234681],
        ['', 4331596 / 16015657, 4818212 / 18004409, 5234681 / 19996228],
      ],
      ['row 3'],
    ],
    [
      'what comes to a thousand heads',
      [
        ['人口', 15657, 18409, 19228],
        ['医師', 37, 41, 43],
        ['千人当たり', (37 / 15657) * 1000, (41 / 18409) * 1000, (43 / 19228) * 1000],
      ],
      ['千人当たり'],
    ],
    [
      'a share of the whole of its own row',
      [
        ['来店', 1733, 911, 822],
        ['通販', 523, 101, 422],
        ['構成比', 100, 52.57, 47.43],
      ],
      ['構成比'],
    ],
    [
      'no price, which was typed, and no amount',
      [
        ['数量', 313, 417, 521],
        ['単価', 19.9, 21.5, 22.75],
        ['売上', 6228.7, 8965.5, 11852.75],
      ],
      [],
    ],
  ])('%s', (_, rows, expected) => expect(computedOf(rows)).toEqual(expected));
});

describe('linkBalances', () => {
  const [income, expense] = [
    [7583.34, 8400.98, 7443.24, 7482.11],
    [5791.02, 8980.64, 8447.31, 9945.62],
  ] as const;
  const statement = (label: string, result: readonly number[]) => [
    ['税収', ...income.map((value) => value - 1000.01)],
    ['利子', ...income.map(() => 1000.01)],
    ['収入合計', ...income],
    ...['給与', '手当', '旅費', '備品', '委託'].map((name, n) => [name, ...expense.map((value) => (n === 0 ? value - 402.4 : 100.6))]),
    ['支出合計', ...expense],
    [label, ...result],
  ];
  let carried = 6160.23;
  const balances = income.map((value, c) => {
    carried += value - (expense[c] ?? 0);
    return Number(carried.toFixed(2));
  });
  const differences = income.map((value, c) => Number((value - (expense[c] ?? 0)).toFixed(2)));

  it.each<[string, string, readonly number[], string[]]>([
    ['a balance that totals move on from column to column', '基金残高', balances, ['基金残高']],
    ['the same by another name stays', '基金', balances, []],
    ['a balance that has nothing to do with them stays', '基金残高', [6160.23, 1558.34, 4576.42, 2113.38], []],
    ['a balance that stands still stays', '基金残高', [6160, 6160, 6160, 6160], []],
  ])('%s', (_, label, result, expected) => expect(computedOf(statement(label, result))).toEqual(expected));

  it('tells which totals it is the difference of, however far they stand', () => {
    const { rows } = read(statement('差引', differences));
    expect(rows.slice(-1).map((row) => expressionOf(rows, row))).toEqual(['収入合計 - 支出合計']);
  });
});

describe('linkDifference', () => {
  it('takes no row for computed that is the same as one of its parts', () => {
    expect(
      computedOf([...['家賃', '保険', '電話', '清掃'].map((name) => [name, 50061, 50062, 50064]), ['合計', 200244, 200248, 200256]]),
    ).toEqual([]);
  });
});

describe('readDerivedFormula', () => {
  it.each([
    ['=AVERAGE(B2:B9)', { kind: 'statistic', from: 2, to: 9 }],
    ['ROUND(MAX($B$2:$B$9), 1)', { kind: 'statistic', from: 2, to: 9 }],
    ['IFERROR(B4/B$3*100,0)', { kind: 'quotient', from: 4, to: 3 }],
    ['B9/B2-1', { kind: 'quotient', from: 9, to: 2 }],
    ['AVERAGE(C2:C9)', null],
    ['AVERAGE(B2:C9)', null],
    ['B4/C4', null],
    ['B4/B4', null],
    ['B4/B5+B6', null],
    ['MAX(B2:B9)+1', null],
  ])('%s', (formula, expected) => expect(readDerivedFormula(formula, 2)).toEqual(expected));
});

describe('linkDerivedFormulas', () => {
  it('takes averages and quotients of typed rows for computed, and steps of a model not', () => {
    const rows = [
      ['売上', 900, 800],
      ['人数', 30, 20],
      ['一人当たり', '=B1/B2~30', '=C1/C2~40'],
      ['燃料', '=B2*1.5+7~52', '=C2*1.5+7~37'],
      ['一日当たり', '=B4/B1~0.0577', '=C4/C1~0.04625'],
      ['並み', '=AVERAGE(B1:B2)~465', '=AVERAGE(C1:C2)~410'],
    ];
    expect(computedOf(rows)).toEqual(['一人当たり', '並み']);
  });
});
