import { describe, expect, it } from 'vitest';
import { splitFormula } from '../../core/formula/references.ts';
import { shiftFormula } from '../../core/formula/translate.ts';
import { cellsOf, formulasOf, readGrid } from './makeWorkbook.ts';

describe('shiftFormula', () => {
  const cases: [formula: string, rows: number, columns: number, expected: string][] = [
    ['A1+B2', 1, 1, 'B2+C3'],
    ['$A1+B$2+$C$3', 2, 1, '$A3+C$2+$C$3'],
    ['SUM(A1:B10)', 0, 3, 'SUM(D1:E10)'],
    ['SUM(A:A)+SUM($B:C)', 5, 2, 'SUM(C:C)+SUM($B:E)'],
    ['SUM(1:3)+SUM($4:5)', 2, 9, 'SUM(3:5)+SUM($4:7)'],
    ['"A1 is ""B2"" here"&C3', 1, 0, '"A1 is ""B2"" here"&C4'],
    ["'A1 sheet'!A1+'it''s B2'!C3", 1, 0, "'A1 sheet'!A2+'it''s B2'!C4"],
    ['Sheet1!A1+Q1!B2+売上!C3', 1, 1, 'Sheet1!B2+Q1!C3+売上!D4'],
    ['Jan:Dec!A1', 1, 0, 'Jan:Dec!A2'],
    ['[1]Sheet1!A1+[Book2.xlsx]B1!C1', 1, 0, '[1]Sheet1!A2+[Book2.xlsx]B1!C2'],
    ['SUM(Table1[[#This Row],[A1]:[B2]])+Table1[C3]', 1, 1, 'SUM(Table1[[#This Row],[A1]:[B2]])+Table1[C3]'],
    ['LOG10(A1)+ATAN2(B1,C1)', 1, 0, 'LOG10(A2)+ATAN2(B2,C2)'],
    ['1E+3+1.5E3+A1', 1, 0, '1E+3+1.5E3+A2'],
    ['IF(A1="",#N/A,#REF!)', 1, 0, 'IF(A2="",#N/A,#REF!)'],
    ['Rate2024*A1', 1, 0, 'Rate2024*A2'],
    ['_xlfn.XLOOKUP(A1,B:B,C:C)', 1, 0, '_xlfn.XLOOKUP(A2,B:B,C:C)'],
    ['消費税A1+A1', 1, 0, '消費税A1+A2'],
    ['A1#+@B1:B3', 1, 0, 'A2#+@B2:B4'],
    ['{1,2;3,4}*A1', 1, 0, '{1,2;3,4}*A2'],
    ['XFD1+XFE1+AAAA1', 0, 0, 'XFD1+XFE1+AAAA1'],
    ['A1', -1, 0, '#REF!'],
    ['XFD1+A1048576', 1, 1, '#REF!+#REF!'],
    ['a1+Ab2', 1, 1, 'B2+AC3'],
    ['TRUE+A1.B2', 1, 1, 'TRUE+A1.B2'],
    ['OFFSET(A1 , 1 , 1):B2', 1, 0, 'OFFSET(A2 , 1 , 1):B3'],
    ['"unclosed A1', 1, 0, '"unclosed A1'],
  ];
  it.each(cases)('%s by %i rows, %i columns', (formula, rows, columns, expected) => {
    expect(shiftFormula(splitFormula(formula), rows, columns)).toBe(expected);
  });

  it('moves nothing when it moves by nothing', () => {
    for (const [formula] of cases) if (formula !== 'a1+Ab2') expect(shiftFormula(splitFormula(formula), 0, 0)).toBe(formula);
  });

  it('splits into one literal more than references', () => {
    const { literals, references } = splitFormula('A1*(B2+C3)');
    expect([literals, references.length]).toEqual([['', '*(', '+', ')'], 3]);
  });
});

describe('readWorkbook: formulas of a sheet', () => {
  it('keeps formula and cached result', async () => {
    const grid = await readGrid({
      sheets: [
        '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="str"><f>"a"&amp;"&lt;"</f><v>a&lt;</v></c><c r="C1" t="b"><f>TRUE</f><v>1</v></c><c r="D1" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="E1"><f ca="1">NOW()</f></c><c r="F1" t="str"><f>""</f><v></v></c><c r="G1"><f/><v>3</v></c></row>',
      ],
    });
    expect(formulasOf(grid)).toEqual({ A1: '1+1', B1: '"a"&"<"', C1: 'TRUE', D1: '1/0', E1: 'NOW()', F1: '""' });
    expect(cellsOf(grid)).toEqual({ A1: 2, B1: 'a<', C1: true, D1: { error: '#DIV/0!' }, E1: '', F1: '', G1: 3 });
  });

  it('moves shared formulas to each cell, even when the first comes later', async () => {
    const grid = await readGrid({
      sheets: [
        '<row r="1"><c r="C1"><f t="shared" si="1"/><v>0</v></c></row>' +
          '<row r="2"><c r="B2"><f t="shared" ref="B2:B4" si="0">A2*$D$1</f><v>1</v></c><c r="C2"><f t="shared" ref="C1:C2" si="1">SUM(A2:B2)</f><v>1</v></c></row>' +
          '<row r="3"><c r="B3"><f t="shared" si="0"/><v>2</v></c></row><row r="4"><c r="B4"><f t="shared" si="0"></f><v>3</v></c><c r="C4"><f t="shared" si="9"/><v>4</v></c></row>',
      ],
    });
    expect(formulasOf(grid)).toEqual({ C1: 'SUM(A1:B1)', B2: 'A2*$D$1', C2: 'SUM(A2:B2)', B3: 'A3*$D$1', B4: 'A4*$D$1' });
    expect(cellsOf(grid).C4).toBe(4);
  });

  it('gives every cell of an array formula or data table its formula', async () => {
    const cells = (row: number): string => `<c r="B${row}"><v>1</v></c><c r="C${row}"><v>2</v></c>`;
    const grid = await readGrid({
      sheets: [
        `<row r="1"><c r="A1"><v>0</v></c><c r="B1"><f t="array" ref="B1:C2">TRANSPOSE(E1:F2)</f><v>1</v></c><c r="C1"><v>2</v></c><c r="D1"><v>9</v></c></row><row r="2">${cells(2)}</row><row r="3">${cells(3)}</row>` +
          '<row r="5"><c r="A5"><f t="dataTable" ref="A5:A6" dt2D="1" dtr="1" r1="H1" r2="H2"/><v>5</v></c><c r="B5"><f t="dataTable" ref="B5" dt2D="0" dtr="0" r1="H1"/><v>5</v></c><c r="C5"><f t="dataTable" ref="C5" dtr="1" r1="H1"/><v>5</v></c></row><row r="6"><c r="A6"><v>6</v></c></row>',
      ],
    });
    expect(formulasOf(grid)).toEqual({
      B1: 'TRANSPOSE(E1:F2)',
      C1: 'TRANSPOSE(E1:F2)',
      B2: 'TRANSPOSE(E1:F2)',
      C2: 'TRANSPOSE(E1:F2)',
      A5: 'TABLE(H1,H2)',
      A6: 'TABLE(H1,H2)',
      B5: 'TABLE(,H1)',
      C5: 'TABLE(H1,)',
    });
    expect(grid.arrays?.map(({ range, kind }) => [range.top, range.left, range.bottom, range.right, kind])).toEqual([
      [1, 2, 2, 3, 'array'],
      [5, 1, 6, 1, 'dataTable'],
      [5, 2, 5, 2, 'dataTable'],
      [5, 3, 5, 3, 'dataTable'],
    ]);
  });
});
