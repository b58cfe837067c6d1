import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyze, build, buildSelected, listCells, summarizeSheets, toContract, validateSpec } from '../../core/structuring/index.ts';
import { merges, rows } from './anySheet.ts';
import { makeGrid } from './picture.ts';
import { rowsOf } from './structure.ts';

describe('analyze and build: any grid at all', () => {
  it('is structured without losing or doubling a cell, and each row knows its cells', () => {
    fc.assert(
      fc.property(rows, merges, (drawn, merged) => {
        const grid = makeGrid(drawn, { merges: merged });
        const result = build([grid], analyze([grid], 'f.xlsx'), 'f.xlsx');
        const [sheet] = result.conservation;
        expect(sheet).toMatchObject({ lost: [], twice: [] });
        expect((sheet?.headers ?? 0) + (sheet?.values ?? 0) + (sheet?.labels ?? 0) + (sheet?.titles ?? 0) + (sheet?.notes ?? 0)).toBe(
          grid.size,
        );
        for (const table of result.tables) {
          expect(rowsOf(table).every((row) => row.length === table.columns.length)).toBe(true);
          expect(table.provenance.offsets).toHaveLength(table.rowCount + 1);
          for (let n = 0; n < table.rowCount; n += 1)
            for (const range of listCells(grid, table, n)) expect(range).toMatch(/^[A-Z]+\d+(:[A-Z]+\d+)?$/);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('gives the same tables every time, also through a ParseSpec that was stored', () => {
    fc.assert(
      fc.property(rows, (drawn) => {
        const grid = makeGrid(drawn);
        const spec = analyze([grid], 'f.xlsx');
        const first = build([grid], spec, 'f.xlsx');
        const stored = build([makeGrid(drawn)], JSON.parse(JSON.stringify(spec)) as typeof spec, 'f.xlsx');
        expect(stored).toEqual(first);
        expect(analyze([makeGrid(drawn)], 'f.xlsx')).toEqual(spec);
      }),
      { numRuns: 150 },
    );
  });

  it('has names that are unique in the workbook, and so have the columns of each table', () => {
    fc.assert(
      fc.property(fc.array(rows, { minLength: 1, maxLength: 3 }), (sheets) => {
        const grids = sheets.map((drawn, n) => makeGrid(drawn, { sheet: `S${n}` }));
        const { tables } = build(grids, analyze(grids, 'f.xlsx'), 'f.xlsx');
        const unique = (names: string[]) => new Set(names.map((name) => name.toLowerCase())).size === names.length;
        expect(unique(tables.map((table) => table.name))).toBe(true);
        for (const table of tables) expect(unique(table.columns.map((column) => column.name))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe('build: a ParseSpec that people corrected', () => {
  const grid = makeGrid([['Title'], ['a', 'b'], ['x', '1'], ['y', '2'], ['z', '3']]);

  it('is followed: other names, other types, other header rows', () => {
    const spec = analyze([grid], 'f.xlsx');
    const region = spec.regions.find((candidate) => candidate.kind === 'data');
    if (!region) throw new Error('no table found');
    region.name = '明細';
    region.columns = [
      { name: '品名', from: 'A', type: 'VARCHAR' },
      { name: '数量', from: 'B', type: 'DOUBLE' },
    ];
    const { tables } = build([grid], spec, 'f.xlsx');
    expect(tables.find((table) => table.name === '明細')?.columns).toEqual([
      { name: '品名', type: 'VARCHAR' },
      { name: '数量', type: 'DOUBLE' },
    ]);
  });

  it('may leave regions out', () => {
    const spec = analyze([grid], 'f.xlsx');
    expect(buildSelected([grid], spec, null).tables.map((table) => table.role)).toEqual(['data']);
  });

  it('is refused with a pointer where it does not fit the file', () => {
    const spec = toContract(analyze([grid], 'f.xlsx'));
    const sheets = summarizeSheets([grid]);
    expect(validateSpec(sheets, spec)).toEqual([]);
    const index = spec.regions.findIndex((region) => region.kind === 'data');
    const broken = structuredClone(spec);
    const region = broken.regions[index];
    if (!region) throw new Error('no table found');
    region.sheet = 'nowhere';
    region.header_rows = [99];
    region.data_range = 'Z1:Z9';
    region.columns = [{ name: '', from: 'ZZ', type: 'VARCHAR' }];
    expect(validateSpec(sheets, broken).map((problem) => problem.pointer)).toEqual([
      `/regions/${index}/sheet`,
      `/regions/${index}/header_rows/0`,
      `/regions/${index}/data_range`,
      `/regions/${index}/header_rows`,
      `/regions/${index}/columns/0/from`,
      `/regions/${index}/columns/0/name`,
    ]);
  });

  it('proposes only specs that fit', () => {
    fc.assert(
      fc.property(rows, merges, (drawn, merged) => {
        const any = makeGrid(drawn, { merges: merged });
        expect(validateSpec(summarizeSheets([any]), toContract(analyze([any], 'f.xlsx')))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
