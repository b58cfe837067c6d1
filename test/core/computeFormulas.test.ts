import { describe, expect, it } from 'vitest';
import { checkFormulas, computeFormulas } from '../../core/formula/computeFormulas.ts';
import { parseFormula } from '../../core/formula/parseFormula.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
import { analyze, build, listRows } from '../../core/structuring/index.ts';
import { drawGrid } from '../structuring/picture.ts';

/** What a cell holds, by its address; formulas are drawn without a result: `=B1+1~`. */
function valueAt(grid: Grid | undefined, row: number, column: number): unknown {
  if (!grid) return undefined;
  for (let i = 0; i < grid.size; i += 1) {
    if (grid.rows[i] !== row || grid.columns[i] !== column) continue;
    const kind = grid.kinds[i];
    if (kind === CellKind.number) return grid.numbers[i];
    if (kind === CellKind.boolean) return grid.numbers[i] === 1;
    if (kind === CellKind.date) return new Date(grid.numbers[i] ?? 0).toISOString().slice(0, 10);
    return grid.strings[grid.texts[i] ?? -1];
  }
  return null;
}

/** The result of one formula, in C1, beside 2, 3 and 4 in A1 to A3 and two texts in B1 and B2. */
const resultOf = (formula: string) => valueAt(computeFormulas([drawGrid(`2|りんご|=${formula}~\n3|みかん\n4`)])[0], 1, 3);

describe('computeFormulas', () => {
  it('adds lengths of time up from nothing, also beyond the first sixty days', () => {
    const picture = '@1900-01-01T12:00|=A1*24~\n@1900-02-28T12:00|=A2*24~\n=SUM(A1:A2)~';
    const [grid] = computeFormulas([drawGrid(picture, { formats: { A: '[h]:mm' } })]);
    expect([valueAt(grid, 1, 2), valueAt(grid, 2, 2), valueAt(grid, 3, 1)]).toEqual([36, 1428, '1900-03-02']);
  });

  it.each([
    ['A1+A2*A3', 14],
    ['-A1^2', 4],
    ['(A1+A2)/A3', 1.25],
    ['A1&"-"&B2', '2-みかん'],
    ['50%', 0.5],
    ['ROUND(FDIST(15.2068649,6,4),4)', 0.01],
    ['ROUND(FINV(0.01,6,4),2)', 15.21],
    ['ROUND(TINV(0.05,14),4)', 2.1448],
    ['ROUND(CHIDIST(18.307,10),3)', 0.05],
    ['ROUND(CHIINV(0.05,10),3)', 18.307],
    ['ROUND(NORMSDIST(1.33),4)', 0.9082],
    ['ROUND(LOGNORMDIST(4,3.5,1.2),5)', 0.03908],
    ['A1<>A2', true],
    ['SUM(A1:A3,10)', 19],
    ['SUM(A:A)', 9],
    ['AVERAGE($A$1:A3)', 3],
    ['MAX(A1:A3)-MIN(A1:A3)', 2],
    ['COUNT(A1:B3)', 3],
    ['COUNTA(B1:B3)', 2],
    ['IF(A1>A2,"多い","少ない")', '少ない'],
    ['IF(FALSE,1/0,7)', 7],
    ['IFERROR(A1/0,"なし")', 'なし'],
    ['ROUND(1.005,2)', 1.01],
    ['SUMIF(A1:A3,">2")', 7],
    ['COUNTIF(B1:B3,"りんご")', 1],
    ['VLOOKUP(3,A1:B3,2,FALSE)', 'みかん'],
    ['INDEX(A1:A3,2)', 3],
    ['MATCH(4,A1:A3,0)', 3],
    ['SUMPRODUCT(A1:A3,A1:A3)', 29],
    ['LEFT(B1,2)', 'りん'],
    ['YEAR(DATE(2024,2,29))', 2024],
    ['DAY(EOMONTH(DATE(2024,1,31),1))', 29],
    ['TEXT(1234.5,"#,##0.0")', '1,234.5'],
    ['ROUND(PMT(0.12/12,12,-1000),2)', 88.85],
    ['_xlfn.CONCAT(B1:B2)', 'りんごみかん'],
  ])('%s is %s', (formula, result) => expect(resultOf(formula)).toEqual(result));

  it('goes on to other sheets, and to formulas that wait for one another', () => {
    const grids = [drawGrid("='数 値'!A1*2~|=A1+1~"), drawGrid('=A2+1~\n5', { sheet: '数 値' })];
    expect([1, 2].map((column) => valueAt(computeFormulas(grids)[0], 1, column))).toEqual([12, 13]);
  });

  it('leaves stored results as they are, and a workbook without open formulas alone', () => {
    const grids = [drawGrid('1|=A1+1~5')];
    expect(computeFormulas(grids)).toBe(grids);
  });

  it.each([
    ['a cycle', '=B1~|=A1~', 'a cycle of formulas', ['A1', 'B1']],
    ['a result that changes', '=TODAY()~', 'TODAY, whose result changes', ['A1']],
    ['a function nobody knows', '=MAGIC(1)~', 'the function MAGIC', ['A1']],
    ['another file', '=[1]Sheet1!A1~', 'a formula that is not understood', ['A1']],
    ['an error', '=1/0~', '#DIV/0!, which is its result', ['A1']],
  ])('says of %s that it has no value', (_, picture, why, cells) => {
    const [grid] = computeFormulas([drawGrid(picture)]);
    expect(grid?.uncomputed).toEqual([{ why, cells }]);
  });

  it('gives tables their values, and findings for those that are missing', () => {
    const grids = computeFormulas([drawGrid('品目|数|額\nりんご|2|=B2*100~\nみかん|3|=B3*100~\nもも|4|=NOW()~')]);
    const { tables, findings } = build(grids, analyze(grids, 'f.xlsx'), 'f.xlsx');
    expect(tables.slice(0, 1).flatMap(listRows)).toEqual([
      ['りんご', 2, 200],
      ['みかん', 3, 300],
      ['もも', 4, null],
    ]);
    expect(findings).toEqual([expect.objectContaining({ kind: 'no_value', cell: 'C4' })]);
  });
});

describe('parseFormula', () => {
  it.each(['SUM(', '1+', 'Table1[Col]', '(A1,B1)', '{1,2'])('gives null for %s', (formula) => expect(parseFormula(formula)).toBeNull());
});

describe('checkFormulas', () => {
  const check = (picture: string) => checkFormulas([drawGrid(picture)])[0]?.stale;

  it('tells stored numbers that their formulas do not give, once for each formula', () => {
    expect(check('1|=A1*2~2\n2|=A2*2~4\n3|=A3*2~60\n4|=A4*2~80\n|=SUM(B1:B4)~146')).toEqual([
      { formula: 'A3*2', stated: 60, computed: 6, cells: ['B3', 'B4'] },
    ]);
  });

  it.each([
    ['what agrees but for its last digits', '1|=A1/3~0.333333333'],
    ['what changes by itself', '1|=TODAY()~45000'],
    ['what depends on a filter', '1|=SUBTOTAL(9,A1:A1)~5'],
    ['what is not understood', '1|=NOSUCH(A1)~5'],
    ['what lies in another file', '1|=[1]Sheet1!A1~5'],
    ['a cycle', '1|=B1+1~5'],
    ['texts', '1|=A1&"x"~1y'],
  ])('says nothing of %s', (_, picture) => {
    expect(check(picture)).toBeUndefined();
  });
});
