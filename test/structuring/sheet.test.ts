import { describe, expect, it } from 'vitest';
import { CellClass } from '../../core/structuring/sheet/sheet.ts';
import { drawSheet } from './picture.ts';

const classNames = Object.fromEntries(Object.entries(CellClass).map(([name, value]) => [value, name]));

describe('SheetView.classes', () => {
  it.each([
    ['りんご', 'text'],
    ['1200', 'number'],
    ["'1,200円", 'number'],
    ["'△50", 'number'],
    ["'76.3±1.2", 'number'],
    ['2023', 'year'],
    ["'(2010)", 'year'],
    ['@2024-04-01', 'date'],
    ["'2024/4/1", 'date'],
    ["'2023年度", 'period'],
    ["'4月", 'period'],
    ['-', 'nullMark'],
    ["'001", 'code'],
    [`'${'1'.repeat(41)}`, 'text'],
  ])('%s is a %s', (cell, expected) => expect(classNames[drawSheet(cell).classes[0] ?? 0]).toBe(expected));

  it('is a number and no year where the format has digits grouped', () => {
    expect(drawSheet('2023', { formats: { A: '#,##0' } }).classes[0]).toBe(CellClass.number);
  });
});

describe('SheetView', () => {
  const view = drawSheet(`
    a |   | b

    c | 1 |
  `);

  it('knows rows, cells and the used range', () => {
    expect([view.rows, view.starts, view.used]).toEqual([[1, 3], [0, 2, 4], { top: 1, left: 1, bottom: 3, right: 3 }]);
  });

  it.each([
    [1, 1, 0],
    [1, 3, 1],
    [3, 2, 3],
    [1, 2, -1],
    [2, 1, -1],
    [9, 9, -1],
  ])('at(%d, %d) is %d', (row, column, cell) => expect(view.at(row, column)).toBe(cell));

  it.each([
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
  ])('rowIndex(%d) is %d, the first used row from there on', (row, index) => expect(view.rowIndex(row)).toBe(index));

  it('cellsOfRow narrows a row to columns', () => {
    expect([view.cellsOfRow(0, 1, 3), view.cellsOfRow(0, 2, 3), view.cellsOfRow(0, 2, 2)]).toEqual([
      [0, 2],
      [1, 2],
      [1, 1],
    ]);
  });

  it('keeps merges, but not those over cells that are filled', () => {
    const merged = drawSheet('a||x|y', { merges: ['A1:B1', 'C1:D1'] });
    expect(merged.merges).toEqual([{ top: 1, left: 1, bottom: 1, right: 2 }]);
  });

  it.each([
    ['>>a', 4],
    ["'\u3000a", 2],
    ['a', 0],
  ])('indent of %j is %d', (cell, indent) => {
    // The picture trims cells, so a blank before the text is put in afterwards.
    const drawn = drawSheet(cell);
    if (cell.includes('\u3000')) drawn.grid.strings[0] = '\u3000a';
    expect(drawn.indent(0)).toBe(indent);
  });

  it.each([
    ['12', 12],
    ["'1,200", 1200],
    ["'△5", -5],
    ["'007", null],
    ['x', null],
    ['@2024-04-01', null],
  ])('numeric of %s is %j', (cell, number) => expect(drawSheet(cell).numeric(0)).toBe(number));

  it('day is the day of a date cell, and of no text', () => {
    expect([drawSheet('@2024-04-01').day(0), drawSheet("'2024-04-01").day(0)]).toEqual(['2024-04-01', null]);
  });

  it('label is one line, formula is null where there is none', () => {
    const drawn = drawSheet('=A1+1~5 | a');
    drawn.grid.strings[0] = ' a\n b ';
    expect([drawn.formula(0), drawn.formula(1), drawn.label(1)]).toEqual(['A1+1', null, 'a b']);
  });
});
