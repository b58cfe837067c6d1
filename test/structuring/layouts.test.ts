import { describe, expect, it } from 'vitest';
import type { Grid } from '../../core/grid/grid.ts';
import {
  analyze,
  applyCorrections,
  build,
  describeLayouts,
  fingerprintOf,
  type Layout,
  type ParseSpec,
  recallLayouts,
  type SpecJson,
  toContract,
} from '../../core/structuring/index.ts';
import { LONG_LIST_ROWS } from '../../core/structuring/thresholds.ts';
import { drawGrid, makeGrid } from './picture.ts';

const correctedAt = '2026-01-02T03:04:05.000Z';

/** Two lines of names, of which the second is not: a person says so, and what the columns are called. */
const report = (month: number, rows: string) => `
  ${month}月度 売上報告
  担当：山田

  店 | 区分 | 数量 | 備考
  ${rows}
  ※${month}月末締め
`;
const april = drawGrid(report(4, '東京 | A | 10 | 済\n大阪 | B | 20 | 済\n調整 | C | 30 | 済'), { sheet: '報告' });
const may = drawGrid(report(5, '東京 | A | 11 | 済\n大阪 | B | 21 | 済\n京都 | B | 5 | 済\n神戸 | A | 7 | 済\n調整 | C | 44 | 済'), {
  sheet: '報告',
});

function correct(spec: ParseSpec, change: (table: SpecJson['regions'][number]) => object): ParseSpec {
  const json = toContract(spec);
  return applyCorrections(spec, {
    ...json,
    regions: json.regions.map((region) => (region.kind === 'data' ? { ...region, ...change(region) } : region)),
  });
}

function learn(grid: Grid, change: (table: SpecJson['regions'][number]) => object, fileName = '4月.xlsx'): Layout[] {
  return describeLayouts([grid], correct(analyze([grid], fileName), change), fileName);
}

const recall = (grid: Grid, layouts: Layout[], fileName = '5月.xlsx') =>
  recallLayouts(
    [grid],
    analyze([grid], fileName),
    layouts.map((layout) => ({ layout, correctedAt })),
    fileName,
  );

const renamed = (table: SpecJson['regions'][number]) => ({
  name: '店別売上',
  columns: table.columns.map((column) => (column.from === 'C' ? { ...column, name: '個数', type: 'DOUBLE' } : column)),
  totals: [{ range: 'A7:D7', kind: 'computed' as const }],
});

describe('describeLayouts and recallLayouts: a sheet of a layout that somebody corrected', () => {
  it('is read the corrected way, with more rows, another month and another file name, and says so', () => {
    const spec = recall(may, learn(april, renamed));
    expect(spec.learned).toEqual([{ sheet: '報告', correctedAt }]);
    const table = spec.regions.find(({ kind }) => kind === 'data');
    expect(table).toMatchObject({ name: '店別売上', range: 'A4:D9', header_rows: [4], totals: [{ at: 9, kind: 'computed' }] });
    expect(table?.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      '店 VARCHAR',
      '区分 VARCHAR',
      '個数 DOUBLE',
      '備考 VARCHAR',
    ]);
    const result = build([may], spec, '5月.xlsx');
    expect(result.rawSheets).toEqual([]);
    expect(result.tables.map(({ name, rowCount }) => [name, rowCount])).toEqual([
      ['店別売上', 4],
      ['店別売上_計算項目', 1],
      ['報告_補足情報', 3],
    ]);
  });

  it('has the same fingerprint next month', () => {
    const [first] = learn(april, renamed);
    const [next] = learn(may, (table) => ({ ...renamed(table), totals: [] }));
    expect(first && next && fingerprintOf(first) === fingerprintOf(next)).toBe(true);
  });

  it('is left as proposed where the header or what stands below it differs', () => {
    const layouts = learn(april, renamed);
    for (const picture of ['店 | 区分 | 数量 | 摘要', '店 | 区分 | 数量 | 備考 | 単価', '店 | 区分 || 数量 | 備考']) {
      const other = drawGrid(`6月度\n担当：山田\n\n${picture}\n東京 | A | 10 | 済 | 3\n大阪 | B | 20 | 済 | 3`);
      expect(recall(other, layouts)).not.toHaveProperty('learned');
    }
    const words = drawGrid(report(6, '1 | 2 | x | 4\n5 | 6 | y | 8'));
    expect(recall(words, layouts)).not.toHaveProperty('learned');
  });

  it('keeps names that come from the file, the sheet or the title', () => {
    const bare = (n: number) => drawGrid(`店 | 数量\n東京 | ${n}\n大阪 | 3`);
    const retyped = (table: SpecJson['regions'][number]) => ({ columns: table.columns.map((column) => ({ ...column, type: 'VARCHAR' })) });
    const named = (spec: ParseSpec) => spec.regions.find(({ kind }) => kind === 'data')?.name;
    expect(named(recall(bare(5), learn(bare(4), retyped)))).toBe('5月');
    const titled = (n: number) => drawGrid(`${n}月の実績\n\n店 | 数量\n東京 | ${n}\n大阪 | 3`);
    expect(named(recall(titled(5), learn(titled(4), retyped)))).toBe('5月の実績');
  });

  it('keeps every cell, also of a column that was left out and below the table', () => {
    const layouts = learn(april, (table) => ({ columns: table.columns.filter(({ from }) => from !== 'B') }));
    const result = build([may], recall(may, layouts), '5月.xlsx');
    expect(result.conservation).toMatchObject([{ lost: [], twice: [] }]);
    expect(result.tables[0]?.columns.map(({ name }) => name)).toEqual(['店', '数量', '備考']);
  });

  it('is read so in a long list, too, with types from all of its rows', () => {
    const list = (rows: number, last: string) =>
      makeGrid([
        ['店', '区分', '数量'],
        ...Array.from({ length: rows }, (_, n) => [`店${n}`, `'00${n % 7}`, String(n)]),
        ['末', "'001", last],
      ]);
    const layouts = learn(list(20, '5'), (table) => ({
      columns: table.columns.map((column) => (column.from === 'B' ? { ...column, name: '分類', type: 'BIGINT' } : column)),
    }));
    const spec = recall(list(LONG_LIST_ROWS * 3, '5.5'), layouts);
    expect(spec.learned).toHaveLength(1);
    expect(spec.regions).toMatchObject([
      {
        range: `A1:C${LONG_LIST_ROWS * 3 + 2}`,
        name: '5月',
        columns: [{ type: 'VARCHAR' }, { name: '分類', type: 'BIGINT' }, { type: 'DOUBLE' }],
      },
    ]);
  });

  it('is not remembered without a correction, nor without a header', () => {
    expect(correct(analyze([april], '4月.xlsx'), () => ({}))).not.toHaveProperty('corrected');
    expect(learn(april, () => ({ header_rows: [] }))).toEqual([]);
  });
});
