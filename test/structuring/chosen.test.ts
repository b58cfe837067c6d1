import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameCell } from '../../core/a1/address.ts';
import {
  analyze,
  build,
  buildSelected,
  describeMisfit,
  fromContract,
  type OutputTable,
  type RegionJson,
  type SpecJson,
  summarizeSheets,
  toContract,
  validateChoice,
  validateSpec,
} from '../../core/structuring/index.ts';
import { merges, rows } from './anySheet.ts';
import { drawGrid, makeGrid } from './picture.ts';
import { rowsOf } from './structure.ts';

const sheet = drawGrid(
  `
  *在庫表
  *#品番 | *#品名 | *#数量 | *#単価 | *#更新  | *#属性
  'A01   | ボルト | 5      | 12.5   | '9:30   | {"色": "銀"}
  'A02   | ナット | -      | 1,250.25円 | '10:05 | [1, 2]
  合計   |        | 5      | 1262.75 |       |
  ※ 四月末
`,
  { sheet: '在庫' },
);

function proposal(): { spec: SpecJson; table: RegionJson; index: number } {
  const spec = toContract(analyze([sheet], '在庫.xlsx'));
  const index = spec.regions.findIndex((region) => region.kind === 'data');
  const table = spec.regions[index];
  if (!table) throw new Error('no table found');
  return { spec, table, index };
}

function retype(types: Record<string, string>) {
  const { spec, table } = proposal();
  for (const column of table.columns) column.type = types[column.from] ?? column.type;
  return { spec, result: buildSelected([sheet], fromContract(spec), null) };
}

describe('buildSelected: what is chosen', () => {
  it('is every region of kind data at first', () => {
    const { spec } = proposal();
    expect(spec.regions.map((region) => [region.kind, region.selected])).toEqual([
      ['title', false],
      ['data', true],
      ['note', false],
    ]);
    const result = buildSelected([sheet], fromContract(spec), null);
    expect(result.tables.map((table) => [table.name, table.role])).toEqual([
      ['在庫表', 'data'],
      ['在庫表_計算項目', 'computed'],
    ]);
    expect(result.conservation).toMatchObject([{ omitted: 2, lost: [], twice: [] }]);
    expect(result).toMatchObject({ archivedRaw: [], rawSheets: [], misfits: [] });
  });

  it('may be titles and notes, when they are asked for', () => {
    const { spec, table } = proposal();
    const others = spec.regions.filter((region) => region !== table).map((region) => region.id);
    expect(buildSelected([sheet], fromContract(spec), others).tables.map(({ name, rowCount }) => [name, rowCount])).toEqual([
      ['在庫_補足情報', 2],
    ]);
    expect(buildSelected([sheet], fromContract(spec), []).tables).toEqual([]);
  });

  it('is everything for auto, whatever is selected', () => {
    fc.assert(
      fc.property(rows, merges, (drawn, merged) => {
        const grid = makeGrid(drawn, { merges: merged });
        const spec = analyze([grid], 'f.xlsx');
        const all = build([grid], spec, 'f.xlsx');
        for (const region of spec.regions) region.selected = !region.selected;
        expect(build([grid], spec, 'f.xlsx')).toEqual(all);
        if (all.rawSheets.length > 0) return;
        const chosen = buildSelected(
          [grid],
          spec,
          spec.regions.map((region) => region.id),
        );
        const shape = (tables: OutputTable[]) =>
          tables.map(({ name, columns, provenance }) => [name, columns.map((c) => c.name), provenance]);
        expect(shape(chosen.tables)).toEqual(shape(all.tables));
        expect(chosen.misfits).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('must be there, once, and side by side', () => {
    const { spec, table } = proposal();
    spec.regions.push({ ...table, id: 'r9', range: 'B2:C4' });
    expect(validateChoice(spec, ['r2', 'r7', 'r2', 'r9'], '/regions')).toMatchObject([
      { pointer: '/regions/1' },
      { pointer: '/regions/2' },
      { pointer: '/regions/3' },
    ]);
    expect(validateChoice(spec, ['r9'])).toEqual([]);
  });
});

describe('buildSelected: types that were asked for', () => {
  it('may be any that a table has', () => {
    const { result } = retype({ A: 'VARCHAR', C: 'DOUBLE', D: 'DECIMAL(18,2)', E: 'TIME', F: 'JSON' });
    const types = ['VARCHAR', 'VARCHAR', 'DOUBLE', 'DECIMAL(18,2)', 'TIME', 'JSON'];
    expect(result.misfits).toEqual([]);
    expect(result.tables[0]?.columns.map((column) => column.type)).toEqual(types);
    expect(rowsOf(result.tables[0])).toEqual([
      ['A01', 'ボルト', 5, '12.50', '09:30:00', '{"色": "銀"}'],
      ['A02', 'ナット', null, '1250.25', '10:05:00', '[1, 2]'],
    ]);
    expect(result.tables[1]?.columns.map((column) => column.type)).toEqual(types);
  });

  it.each([
    ['B', 'BIGINT', 'B3'],
    ['D', 'BIGINT', 'D3'],
    ['D', 'DECIMAL(5,1)', 'D4'],
    ['D', 'DATE', 'D3'],
    ['E', 'JSON', 'E3'],
    ['F', 'TIME', 'F3'],
    ['C', 'BOOLEAN', 'C3'],
  ])('of column %s cannot be %s: the first cell that does not fit is named', (from, type, cell) => {
    const { spec, result } = retype({ [from]: type });
    expect(result.misfits).toMatchObject([{ from, type, cell }]);
    const [misfit] = result.misfits;
    const k = 'ABCDEF'.indexOf(from);
    expect(misfit && describeMisfit(spec, misfit).pointer).toBe(`/regions/1/columns/${k}/type`);
  });

  it('hold for the measure of a long table, when all of its columns say so', () => {
    const grid = drawGrid('店|2023年度|2024年度\n東|1|2.5\n西|3|4');
    const spec = analyze([grid], 'f.xlsx');
    for (const column of spec.regions[0]?.columns.slice(1) ?? []) column.type = 'DECIMAL(10,1)';
    const [table] = buildSelected([grid], spec, null).tables;
    expect(table?.columns).toMatchObject([{ name: '店' }, { name: '期間' }, { name: '期間開始' }, { name: '値', type: 'DECIMAL(10,1)' }]);
    expect(rowsOf(table)).toEqual([
      ['東', '2023年度', '2023-04-01', '1.0'],
      ['東', '2024年度', '2024-04-01', '2.5'],
      ['西', '2023年度', '2023-04-01', '3.0'],
      ['西', '2024年度', '2024-04-01', '4.0'],
    ]);
  });
});

describe('validateSpec: a ParseSpec that does not fit its file', () => {
  const sheets = summarizeSheets([sheet]);
  const cases: [string, (table: RegionJson, spec: SpecJson) => void, string[]][] = [
    ['a range beyond the used cells', (t) => Object.assign(t, { range: 'A2:Z99' }), ['/range']],
    ['no range', (t) => Object.assign(t, { range: 'nonsense' }), ['/range']],
    ['an unknown sheet', (t) => Object.assign(t, { sheet: 'x' }), ['/sheet']],
    ['no name', (t) => Object.assign(t, { name: null }), ['/name']],
    ['records that run across', (t) => Object.assign(t, { orientation: 'columns' }), ['/orientation']],
    ['header rows out of order', (t) => Object.assign(t, { header_rows: [2, 2] }), ['/header_rows/1']],
    ['a header below the data', (t) => Object.assign(t, { header_rows: [4] }), ['/header_rows']],
    ['data outside', (t) => Object.assign(t, { data_range: 'A3:G5' }), ['/data_range']],
    ['no columns', (t) => Object.assign(t, { columns: [] }), ['/columns']],
    ['a column used twice', (t) => t.columns.push({ name: 'x', from: 'A', type: 'VARCHAR' }), ['/columns/6/from']],
    ['a column outside', (t) => t.columns.push({ name: 'x', from: 'G', type: 'VARCHAR' }), ['/columns/6/from']],
    ['an unknown type', (t) => t.columns.splice(1, 1, { name: 'x', from: 'B', type: 'MONEY' }), ['/columns/1/type']],
    ['a name used twice', (t) => t.columns.splice(1, 1, { name: '品番', from: 'B', type: 'TEXT' }), ['/columns/1/name']],
    ['the name of the row id', (t) => t.columns.splice(1, 1, { name: '__SVC_row_id', from: 'B', type: 'TEXT' }), ['/columns/1/name']],
    [
      'periods of no column, and twice',
      (t) =>
        Object.assign(t, {
          periods: [
            { from: 'G', label: 'x' },
            { from: 'C', label: 'x' },
            { from: 'C', label: 'y' },
          ],
        }),
      ['/periods/0/from', '/periods/2/from'],
    ],
    ['totals outside', (t) => Object.assign(t, { totals: [{ range: 'A9:F9', kind: 'total' }] }), ['/totals/0/range']],
    ['an id used twice', (t, spec) => spec.regions.unshift({ ...t, kind: 'note', header_rows: [], columns: [] }), ['/id']],
    [
      'two selected regions over one cell',
      (t, spec) => spec.regions.unshift({ ...t, id: 'r9', range: 'A2:F4', data_range: 'A3:F4', totals: [] }),
      ['/range'],
    ],
  ];
  it.each(cases)('%s', (_, spoil, pointers) => {
    const { spec, table } = proposal();
    spoil(table, spec);
    const index = spec.regions.indexOf(table);
    expect(validateSpec(sheets, spec).map((problem) => problem.pointer)).toEqual(pointers.map((rest) => `/regions/${index}${rest}`));
  });

  it('counts merged cells as used', () => {
    expect(summarizeSheets([drawGrid('*表題', { merges: ['A1:D2'] }), makeGrid([], { merges: ['A1:C9'], sheet: 'leer' })])).toEqual([
      { name: 'Sheet1', rows: 2, columns: 4, cells: 1 },
      { name: 'leer', rows: 0, columns: 0, cells: 0 },
    ]);
  });
});

describe('listCells: provenance', () => {
  it('says which column a cell filled', () => {
    const grid = drawGrid(`
      店 | 地区 | 2023年度 |      | 2024年度 |
         |      | 売上     | 数量 | 売上     | 数量
      東 | 関東 | 10       | 1    | 20       | 2
      西 | 関西 | 30       | 3    | 40       | 4
    `);
    const table = build([grid], analyze([grid], 'f.xlsx'), 'f.xlsx').tables[0];
    if (!table) throw new Error('no table');
    expect(table.columns.map((column) => column.name)).toEqual(['店', '地区', '期間', '期間開始', '売上', '数量']);
    const { offsets, cells, columns } = table.provenance;
    const behind = (n: number) =>
      Array.from(cells)
        .slice(offsets[n], offsets[n + 1])
        .map(
          (cell, k) =>
            `${nameCell(grid.rows[cell] ?? 0, grid.columns[cell] ?? 0)} ${table.columns[columns[(offsets[n] ?? 0) + k] ?? -1]?.name}`,
        );
    expect(behind(0)).toEqual(['A3 店', 'B3 地区', 'C1 期間', 'C3 売上', 'D3 数量']);
    expect(behind(3)).toEqual(['A4 店', 'B4 地区', 'E1 期間', 'E4 売上', 'F4 数量']);
    expect(table.made).toEqual([2, 3]);
    expect(table.range).toBe('A1:F4');
  });

  it('has a column for every cell, and the cell has the value, for any sheet', () => {
    fc.assert(
      fc.property(rows, merges, (drawn, merged) => {
        const grid = makeGrid(drawn, { merges: merged });
        for (const table of build([grid], analyze([grid], 'f.xlsx'), 'f.xlsx').tables) {
          const { offsets, cells, columns } = table.provenance;
          expect(columns).toHaveLength(cells.length);
          rowsOf(table).forEach((row, n) => {
            const filled = new Set(Array.from(columns).slice(offsets[n], offsets[n + 1]));
            for (const k of filled) expect(k >= 0 && k < table.columns.length).toBe(true);
            row.forEach((value, k) => {
              if (value !== null && !table.made.includes(k)) expect(filled.has(k), `${table.name} ${table.columns[k]?.name}`).toBe(true);
            });
          });
        }
      }),
      {
        numRuns: 200,
        examples: [
          [
            [
              ['', '=SUM(B1:B3)~6', '0'],
              ['りんご', '0'],
            ],
            [],
          ],
        ],
      },
    );
  });
});
