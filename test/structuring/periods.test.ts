import { describe, expect, it } from 'vitest';
import { readHeaderColumns } from '../../core/structuring/headers/columnNames.ts';
import { findPeriods } from '../../core/structuring/periods/periods.ts';
import { drawSheet, usedRange } from './picture.ts';

/** Periods under a header of that many rows: `B 2023年度_4月 2023-04-01 値`, computed ones with a plus. */
function periodsOf(picture: string, headerRows = 1, japanese = true): string[] {
  const view = drawSheet(picture);
  const rows = Array.from({ length: headerRows }, (_, k) => k + 1);
  const columns = readHeaderColumns(view, usedRange(view), rows, headerRows + 1);
  return findPeriods(columns, (column) => column > 1, { japanese, nameless: '値', month: null }).map(
    ({ from, label, start, measure, computed }) => `${computed ? '+' : ''}${from} ${label} ${start} ${measure}`,
  );
}

describe('findPeriods', () => {
  it.each<[string, string, number, string[]]>([
    ['years', '項目|2021年度|2022年度\n売上|1|2', 1, ['B 2021年度 2021-04-01 値', 'C 2022年度 2022-04-01 値']],
    [
      'months under a fiscal year',
      '項目|2023年度|\n|4月|1月\n売上|1|2',
      2,
      ['B 2023年度_4月 2023-04-01 値', 'C 2023年度_1月 2024-01-01 値'],
    ],
    ['a total over the periods', '項目|1月|2月|合計\n売上|1|2|3', 1, ['B 1月 null 値', 'C 2月 null 値', '+D 合計 null 値']],
    ['coarser periods among finer ones as computed', '項目|Q1|Q2|上期\n売上|1|2|3', 1, ['B Q1 null 値', 'C Q2 null 値', '+D 上期 null 値']],
    [
      'the measure of each column',
      '店|2022年度||2023年度|\n|売上|利益|売上|利益\n銀座|1|2|3|4',
      2,
      ['B 2022年度 2022-04-01 売上', 'C 2022年度 2022-04-01 利益', 'D 2023年度 2023-04-01 売上', 'E 2023年度 2023-04-01 利益'],
    ],
    ['one period only', '項目|2023年度|備考\n売上|1|x', 1, []],
    ['years out of order', '項目|2021|2023|2022\n売上|1|2|3', 1, []],
    ['no periods', '品名|数量\nりんご|1', 1, []],
  ])('finds %s', (_, picture, headerRows, expected) => expect(periodsOf(picture, headerRows)).toEqual(expected));

  it('reads letters before a number as eras in Japanese sheets only', () => {
    const picture = 'item|R1|R2\na|1|2';
    expect(periodsOf(picture, 1, true)).toHaveLength(2);
    expect(periodsOf(picture, 1, false)).toEqual([]);
  });

  it('takes a real date in the header for its day', () => {
    expect(periodsOf('品名|@2024-04-01|@2024-05-01\nりんご|1|2').map((period) => period.split(' ')[2])).toEqual([
      '2024-04-01',
      '2024-05-01',
    ]);
  });
});
