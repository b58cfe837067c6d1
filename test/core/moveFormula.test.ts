import { describe, expect, it } from 'vitest';
import { moveFormula } from '../../core/formula/moveFormula.ts';
import { TableLayout } from '../../core/formula/tableLayout.ts';

/** Rows 3 to 6 and 8 of 売上 stand in rows 2 to 6 of 明細, its columns B to D in A to C; F in D. マスタ is the same but for its name. */
const rows: [number, number][] = [
  [3, 2],
  [4, 3],
  [5, 4],
  [6, 5],
  [8, 6],
];
const columns = new Map([
  [2, 1],
  [3, 2],
  [4, 3],
  [6, 4],
]);
const layouts: Record<string, TableLayout> = {
  売上: new TableLayout('明細', rows, columns),
  マスタ: new TableLayout("商品's", rows, columns),
};
const move = (formula: string) => moveFormula(formula, { from: '売上', to: '明細' }, (sheet, area) => layouts[sheet]?.find(area) ?? null);

describe('moveFormula', () => {
  it.each<[formula: string, moved: string | null]>([
    ['B3*C3', 'A2*B2'],
    ['$B$3+B$4-$D6', '$A$2+A$3-$C5'],
    ['SUM(B3:B6)', 'SUM(A2:A5)'],
    ['SUM(B3:D6)*2', 'SUM(A2:C5)*2'],
    ['SUM(D6:B3)', 'SUM(A2:C5)'],
    ['IF(F8>0,"B3 ""x""",-F8%)', 'IF(D6>0,"B3 ""x""",-D6%)'],
    ['ROUND(B3/1.5E+3,0)&TRUE', 'ROUND(A2/1.5E+3,0)&TRUE'],
    ['売上!B3', 'A2'],
    ["'売上'!B3:B4", 'A2:A3'],
    ['VLOOKUP(B3,マスタ!$B:$D,3,FALSE)', "VLOOKUP(A2,'商品''s'!$A:$C,3,FALSE)"],
    ['SUM(マスタ!B3:B6)+B3', "SUM('商品''s'!A2:A5)+A2"],
    ['PI()*2', 'PI()*2'],
    ['CHOOSE(1,{1,2;3,4},B3)', 'CHOOSE(1,{1,2;3,4},A2)'],
    ['IFERROR(B3,#N/A)', 'IFERROR(A2,#N/A)'],
    // What is not there.
    ['B2', null],
    ['B7', null],
    ['A3', null],
    ['SUM(B3:B8)', null],
    ['SUM(B3:F3)', null],
    ['SUM(B:F)', null],
    ['SUM(3:3)', null],
    ['別!B3', null],
    ["'[1]売上'!B3", null],
    ['[1]売上!B3', null],
    ['売上:マスタ!B3', null],
    ['B3*税率', null],
    ['SUM(表1[金額])', null],
    ['B3:INDEX(B:B,4)', null],
    ['LET(x,B3,x+1)', null],
  ])('%s', (formula, moved) => {
    expect(move(formula)).toBe(moved);
  });
});
