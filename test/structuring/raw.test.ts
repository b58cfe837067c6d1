import { describe, expect, it } from 'vitest';
import { listRows } from '../../core/structuring/building/output.ts';
import { buildRawTable, nameRawTables } from '../../core/structuring/building/raw.ts';
import { dropBlankTexts } from '../../core/structuring/sheet/blanks.ts';
import { summarizeSheets } from '../../core/structuring/sheet/extents.ts';
import { drawGrid } from './picture.ts';

describe('buildRawTable', () => {
  it('copies every used cell as shown, columns by their letters, blank rows left out', () => {
    const table = buildRawTable(drawGrid('|a|\n\n1200|@2024-04-01', { formats: { A: '#,##0' } }));
    const { columns, range, provenance } = table;
    expect(columns).toEqual([
      { name: 'A', type: 'VARCHAR' },
      { name: 'B', type: 'VARCHAR' },
    ]);
    expect(listRows(table)).toEqual([
      [null, 'a'],
      ['1,200', expect.stringContaining('2024')],
    ]);
    expect(range).toBe('A1:B3');
    expect(Object.values(provenance).map((list) => Array.from(list))).toEqual([
      [0, 1, 3],
      [0, 1, 2],
      [1, 0, 1],
    ]);
  });

  it('has neither columns nor rows for a blank sheet', () => {
    expect(buildRawTable(drawGrid(''))).toMatchObject({ columns: [], rowCount: 0, range: null });
  });
});

describe('nameRawTables', () => {
  const sheet = (name: string, picture = 'a') => drawGrid(picture, { sheet: name });
  const base = () => 'F';

  it.each([
    ['one sheet', [sheet('S')], ['F']],
    ['several', [sheet('S'), sheet('T')], ['F_S', 'F_T']],
    ['one beside blank ones', [sheet('S'), sheet('T', '')], ['F', 'F']],
  ])('for %s', (_, grids, names) => expect(nameRawTables(grids, 'F.xlsx', base)).toEqual(names));
});

describe('dropBlankTexts', () => {
  it('leaves a grid without blank texts as it is', () => {
    const grid = drawGrid('a|1');
    expect(dropBlankTexts(grid)).toEqual({ grid, origin: null });
  });

  it('leaves out cells that look empty, and remembers where the others stood', () => {
    const grid = drawGrid('a|b|1\n|c|');
    grid.strings[1] = ' \u3000';
    const seen = dropBlankTexts(grid);
    expect([...(seen.origin ?? [])]).toEqual([0, 2, 3]);
    expect([...seen.grid.columns]).toEqual([1, 3, 2]);
    expect([...seen.grid.rows]).toEqual([1, 1, 2]);
    expect(seen.grid.size).toBe(3);
  });
});

describe('summarizeSheets', () => {
  it('gives the last row and column in use, merged cells with all they cover', () => {
    const grids = [drawGrid('a|b\nc', { sheet: 'S', merges: ['A2:D5'] }), drawGrid('', { sheet: 'T' })];
    expect(summarizeSheets(grids)).toEqual([
      { name: 'S', rows: 5, columns: 4, cells: 3 },
      { name: 'T', rows: 0, columns: 0, cells: 0 },
    ]);
  });
});
