import { describe, expect, it } from 'vitest';
import { type BuiltRegion, buildTableRegion } from '../../core/structuring/building/buildTable.ts';
import { Ledger } from '../../core/structuring/building/ledger.ts';
import { findWrongTotals } from '../../core/structuring/findings/reaggregate.ts';
import { namingOf } from '../../core/structuring/names/naming.ts';
import type { SpecRegion } from '../../core/structuring/spec/spec.ts';
import { drawSheet, type PictureOptions } from './picture.ts';
import { makeRegion, rowsOf } from './structure.ts';

const columns = (...names: string[]) => names.map((name, k) => ({ name, from: 'ABCDEFG'[k] ?? '', type: k === 0 ? 'VARCHAR' : 'BIGINT' }));

function build(picture: string, own: Partial<SpecRegion>, options?: PictureOptions) {
  const view = drawSheet(picture, options);
  const ledger = new Ledger(view);
  const region = makeRegion({ name: 't', header_rows: [1], ...own });
  const built = buildTableRegion({ view, ledger, types: { binding: false, misfits: [] }, naming: namingOf(null) }, region);
  return { view, region, built, placed: ledger.summarize() };
}

const show = ({ tables }: BuiltRegion) =>
  Object.fromEntries(tables.map((table) => [table.name, [table.columns.map(({ name }) => name), ...rowsOf(table)]]));

describe('buildTableRegion', () => {
  it('makes one table of a plain region, every cell placed once', () => {
    const { built, placed } = build('品名|数量\nりんご|1\nみかん|2', {
      range: 'A1:B3',
      data_range: 'A2:B3',
      columns: columns('品名', '数量'),
    });
    expect(show(built)).toEqual({
      t: [
        ['品名', '数量'],
        ['りんご', 1],
        ['みかん', 2],
      ],
    });
    expect(placed).toMatchObject({ headers: 2, values: 4, lost: [], twice: [] });
  });

  it('keeps totals apart', () => {
    const { built } = build('品名|数量\nりんご|1\nみかん|2\n合計|3', {
      range: 'A1:B4',
      data_range: 'A2:B4',
      columns: columns('品名', '数量'),
      totals: [{ at: 4, kind: 'total', formula: null }],
    });
    expect(show(built).t).toHaveLength(3);
    expect(show(built).t_計算項目).toEqual([
      ['品名', '数量'],
      ['合計', 3],
    ]);
  });

  it('repeats a merged cell on the rows that it covers', () => {
    const { built, placed } = build(
      '地域|店|額\n東|仙台|1\n|盛岡|2',
      { range: 'A1:C3', data_range: 'A2:C3', columns: [...columns('地域', '店'), { name: '額', from: 'C', type: 'BIGINT' }] },
      { merges: ['A2:A3'] },
    );
    expect(rowsOf(built.tables[0]).map(([region]) => region)).toEqual(['東', '東']);
    expect(placed).toMatchObject({ lost: [], twice: [] });
  });

  it('turns periods into rows, and their totals into computed ones', () => {
    const { built } = build('品名|4月|5月|合計\nりんご|1|2|3', {
      range: 'A1:D2',
      data_range: 'A2:D2',
      columns: columns('品名', '4月', '5月', '合計'),
      periods: [
        { from: 'B', label: '4月', start: '2024-04-01', measure: '値' },
        { from: 'C', label: '5月', start: null, measure: '値' },
        { from: 'D', label: '合計', start: null, measure: '値', computed: true },
      ],
    });
    expect(show(built)).toEqual({
      t: [
        ['品名', '期間', '期間開始', '値'],
        ['りんご', '4月', '2024-04-01', 1],
        ['りんご', '5月', null, 2],
      ],
      t_計算項目: [
        ['品名', '期間', '期間開始', '値'],
        ['りんご', '合計', null, 3],
      ],
    });
  });

  it('loses no cell where a measure comes twice in one period', () => {
    const { built, placed } = build('品名|4月|4月\nりんご|1|2', {
      range: 'A1:C2',
      data_range: 'A2:C2',
      columns: columns('品名', '4月', '4月_2'),
      periods: ['B', 'C'].map((from) => ({ from, label: '4月', start: null, measure: '値' })),
    });
    expect(rowsOf(built.tables[0])).toEqual([
      ['りんご', '4月', null, 1],
      ['りんご', '4月', null, 2],
    ]);
    expect(placed.lost).toEqual([]);
  });
});

describe('findWrongTotals', () => {
  const findingsOf = (picture: string, right: string, names: string[], own: Partial<SpecRegion> = {}, options?: PictureOptions) => {
    const rows = picture.split('\n').length;
    const { view, region, built } = build(
      picture,
      { range: `A1:${right}${rows}`, data_range: `A2:${right}${rows}`, columns: columns(...names), ...own },
      options,
    );
    return findWrongTotals(view, region, built).map(({ cell, stated, computed }) => `${cell} ${stated} ${computed}`);
  };

  it.each([
    ['a total that is right', '店|額\n東|100\n西|200\n合計|300', []],
    ['a total that is wrong', '店|額\n東|100\n西|200\n合計|310', ['B4 310 300']],
    ['a figure far off, which is no sum', '店|額\n東|100\n西|200\n合計|5000', []],
  ])('says of %s', (_, picture, expected) => expect(findingsOf(picture, 'B', ['店', '額'])).toEqual(expected));

  it('leaves out columns that do not add up by nature', () => {
    const picture = '店|額|単価\n東|100|10\n西|200|12\n合計|300|15';
    expect(findingsOf(picture, 'C', ['店', '額', '単価'])).toEqual([]);
    expect(findingsOf(picture, 'C', ['店', '額', '数'])).toEqual(['C4 15 22']);
    expect(findingsOf(picture, 'C', ['店', '額', '数'], {}, { formats: { C: '0%' } })).toEqual([]);
  });

  it('checks the total over periods on rows where most of them are right', () => {
    const periods = [
      { from: 'B', label: '4月', start: null, measure: '値' },
      { from: 'C', label: '5月', start: null, measure: '値' },
      { from: 'D', label: '合計', start: null, measure: '値', computed: true },
    ];
    const picture = '品|4月|5月|合計\nあ|10|20|30\nい|11|22|33\nう|10|10|25';
    expect(findingsOf(picture, 'D', ['品', '4月', '5月', '合計'], { periods })).toEqual(['D4 25 20']);
  });
});
