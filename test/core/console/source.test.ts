import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRange, fromLetters, parseRange, toLetters } from '../../../console/pages/source/a1.ts';
import { listDoubts } from '../../../console/pages/source/doubts.ts';
import { findRowsOfCell } from '../../../console/pages/source/findRows.ts';
import type { Look } from '../../../console/pages/source/look.ts';
import {
  previewRows,
  type Region,
  type Sheet,
  withHeaders,
  withKind,
  withLongForm,
  withPeriod,
  withRange,
} from '../../../console/pages/source/spec.ts';
import { findSpills } from '../../../console/pages/source/spills.ts';

/** What the page of a file computes by itself: ranges, corrections, and the way back from a cell. */

describe('ranges', () => {
  it('are written as they were read', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 16_384 }), (column) => fromLetters(toLetters(column)) === column));
    expect(['A1', 'B2:D9', 'AA10:AB11'].map((text) => formatRange(parseRange(text) as never))).toEqual(['A1', 'B2:D9', 'AA10:AB11']);
    expect(['', '1A', 'A', 'A1:'].map(parseRange)).toEqual([null, null, null, null]);
  });
});

const sheet: Sheet = {
  range: { left: 1, top: 1, right: 4, bottom: 5 },
  values: [
    ['売上', null, null, null],
    ['', '実績', '実績', '計'],
    ['店', '4月', '5月', ''],
    ['東京', 1, 2, 3],
    ['大阪', 4, 5, 9],
  ],
};
const region: Region = {
  id: 'r1',
  sheet: 's',
  range: 'A3:C5',
  kind: 'data',
  name: '売上',
  header_rows: [3],
  data_range: 'A4:C5',
  orientation: 'rows',
  columns: [
    { name: '店', from: 'A', type: 'VARCHAR' },
    { name: '四月', from: 'B', type: 'BIGINT' },
    { name: '5月', from: 'C', type: 'BIGINT' },
  ],
  periods: [],
  totals: [{ range: 'A5:C5', kind: 'total' }],
  selected: true,
};

describe('corrections of a region', () => {
  it('over other cells keep what people named, and name what is new by its header', () => {
    const wider = withRange(region, { left: 1, top: 3, right: 4, bottom: 5 }, sheet);
    expect([wider.range, wider.data_range]).toEqual(['A3:D5', 'A4:D5']);
    expect(wider.columns.map(({ name }) => name)).toEqual(['店', '四月', '5月', 'D']);
    const shorter = withRange(region, { left: 1, top: 3, right: 2, bottom: 4 }, sheet);
    expect([shorter.columns.map(({ from }) => from), shorter.totals]).toEqual([['A', 'B'], []]);
  });

  it('with more header rows join their names, and no name twice', () => {
    const named = withHeaders({ ...region, range: 'A2:D5' }, [3, 2], sheet);
    expect(named.header_rows).toEqual([2, 3]);
    expect(named.columns.map(({ name }) => name)).toEqual(['店', '実績_4月', '実績_5月', '計']);
    const one = withHeaders({ ...region, range: 'A2:D5' }, [2], sheet);
    expect(one.columns.map(({ name }) => name)).toEqual(['店', '実績', '実績_2', '計']);
  });

  it('show what would come out, in long form as well', () => {
    expect(previewRows(region, sheet, 5)).toEqual({
      names: ['店', '四月', '5月'],
      rows: [['東京', '1', '2']],
    });
    const periods = [
      { from: 'B', label: '4月' },
      { from: 'C', label: '5月' },
    ];
    expect(previewRows({ ...region, periods, totals: [] }, sheet, 3)).toEqual({
      names: ['店', '期間', '値'],
      rows: [
        ['東京', '4月', '1'],
        ['東京', '5月', '2'],
        ['大阪', '4月', '4'],
      ],
    });
  });

  it('as a note have nothing of a table, and get it back as one', () => {
    const note = withKind(region, 'note', sheet);
    expect(note).toMatchObject({ kind: 'note', name: null, target: '売上', header_rows: [], columns: [], data_range: null, totals: [] });
    const table = withKind(note, 'data', sheet);
    expect(table).toMatchObject({ kind: 'data', name: '売上', header_rows: [3], data_range: 'A4:C5' });
    expect(table.columns.map(({ name }) => name)).toEqual(['店', '4月', '5月']);
    expect(withKind(region, 'report', sheet)).toEqual({ ...region, kind: 'report' });
  });

  it('turn columns of numbers into rows and back, as proposed where something was', () => {
    const long = withLongForm(region, true);
    expect(long.periods).toEqual([
      { from: 'B', label: '四月' },
      { from: 'C', label: '5月' },
    ]);
    expect(withLongForm(long, false).periods).toEqual([]);
    const proposed = [{ from: 'C', label: '2024年5月', start: '2024-05-01' }];
    expect(withLongForm(region, true, proposed).periods).toEqual(proposed);
    expect(withPeriod(long, 'B', false).periods).toEqual([{ from: 'C', label: '5月' }]);
    expect(withPeriod({ ...region, periods: proposed }, 'B', true).periods?.map(({ from }) => from)).toEqual(['B', 'C']);
  });
});

describe('listDoubts', () => {
  const found = { sheet: 's', table: '売上', stated: null, computed: null };
  const review = {
    id: '1',
    rule: 'total-mismatch',
    severity: 'error',
    table: '売上',
    message: 'm',
    suggested_fix: 'f',
    sheet: 's',
  } as const;
  const at = (cell: string) => ({ cell, value: 1 });

  it('has a line for each cause and table, the worst first, with its cells', () => {
    const findings = [
      { ...found, kind: 'missing_mark' as const, cell: 'B4', count: 12, cells: ['B4', 'B5'], message: '12 cells became NULL' },
      { ...found, kind: 'total_mismatch' as const, cell: 'C5', message: 'wrong' },
      { ...found, kind: 'not_understood' as const, sheet: 'other', table: '', cell: '', message: 'raw' },
    ];
    const doubtful = [
      { sheet: 'other', reason: 'said already' },
      { sheet: 'third', reason: 'unsure' },
    ];
    expect(
      listDoubts({ findings, doubtful }, []).map(({ severity, kind, sheet, cells, count }) => [severity, kind, sheet, cells, count]),
    ).toEqual([
      ['error', 'total_mismatch', 's', ['C5'], 1],
      ['warning', 'not_understood', 'other', [], 0],
      ['warning', 'unsure', 'third', [], 0],
      ['info', 'missing_mark', 's', ['B4', 'B5'], 12],
    ]);
  });

  it('adds what reviews found, unless the reading has said it', () => {
    const findings = [{ ...found, kind: 'total_mismatch' as const, cell: 'C5', message: 'wrong' }];
    const reviewed = [
      { ...review, evidence: [at('C5'), at('C4')] },
      { ...review, id: '2', evidence: [at('D5'), at('D4')] },
    ];
    expect(listDoubts({ findings }, reviewed).map(({ id, cells, beside }) => [id, cells, beside])).toEqual([
      ['total_mismatch s 売上 C5', ['C5'], []],
      ['2', ['D5'], ['D4']],
    ]);
    expect(listDoubts(null, reviewed)).toHaveLength(2);
  });
});

describe('findRowsOfCell', () => {
  /** Two rows of the table for each row of the sheet, as in long form. */
  const read = (asked: number[]) => async (rowId: number) => {
    asked.push(rowId);
    const row = Math.ceil(rowId / 2) + 3;
    const column = rowId % 2 === 1 ? 'B' : 'C';
    const cells = [`A${row}`, `${column}${row}`].map((range) => ({ source: 'f', sheet: 's', range, columns: [] }));
    return { name: 't', row_id: rowId, cells, inputs: [], truncated: false };
  };
  const ids = Array.from({ length: 2_000 }, (_, i) => i + 1);

  it.each([
    [1, 4, [1, 2]],
    [3, 4, [2]],
    [2, 503, [999]],
    [1, 1003, [1_999, 2_000]],
    [4, 10, []],
    [1, 2, []],
  ])('of column %i, row %i are %j, by few questions', async (column, row, rows) => {
    const asked: number[] = [];
    expect(await findRowsOfCell(ids, read(asked), 's', column, row)).toEqual(rows);
    expect(asked.length).toBeLessThan(60);
  });
});

describe('findSpills', () => {
  const look: Look = {
    merges: [],
    widths: [],
    heights: [],
    styles: [{ align: 'right' } as Look['styles'][number]],
    styleIds: [],
  };
  const widths = [60, 60, 60, 60];
  const spillsOf = (values: unknown[], more: Partial<Look> = {}, kept: Parameters<typeof findSpills>[3] = []) =>
    findSpills({ ...look, ...more, range: { left: 1, top: 1, right: 4, bottom: 1 }, values: [values] }, 1, widths, kept).map(
      ({ owner, left, right }) => [owner, left, right],
    );

  it('lets a text go on over empty cells, as far as it needs and nothing stands there', () => {
    expect(spillsOf(['2024年度 店別売上', null, '', null])).toEqual([[1, 1, 3]]);
    expect(spillsOf(['2024年度 店別売上', null, 'x', null])).toEqual([[1, 1, 2]]);
    expect(spillsOf(['2024年度 店別売上', 1, null, null])).toEqual([]);
    expect(spillsOf(['店', null, null, null])).toEqual([]);
    expect(spillsOf([123456789012, null, null, null])).toEqual([]);
  });

  it('goes to the left where the text stands at the right', () => {
    expect(spillsOf([null, null, null, '（単位：千円）'], { styleIds: [[null, null, null, 0]] })).toEqual([[4, 3, 4]]);
  });

  it('leaves tables and merged cells as they are', () => {
    const table = { left: 1, top: 1, right: 2, bottom: 9 };
    expect(spillsOf(['2024年度 店別売上', null, null, null], {}, [table])).toEqual([]);
    expect(spillsOf([null, null, '2024年度 店別売上', null], { merges: [{ left: 4, top: 1, right: 4, bottom: 2 }] })).toEqual([]);
  });
});
