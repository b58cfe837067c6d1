import { describe, expect, it } from 'vitest';
import { readTableRows } from '../../core/structuring/reports/tableRows.ts';
import { drawSheet, usedRange } from './picture.ts';

function read(picture: string) {
  const view = drawSheet(picture);
  return readTableRows(view, usedRange(view), 1);
}

describe('readTableRows', () => {
  it.each([
    ['texts before the first numbers', '東|りんご|1|x|2\n西|みかん|3|y|4', [1, 2], [3, 5]],
    ['codes before the names are no values', '1|東京|100\n2|大阪|200\n3|京都|300', [2], [3]],
    ['years are no values', '売上|2021|1\n費用|2022|2\n利益|2023|3', [1], [3]],
    ['texts only', 'a|b\nc|d', [1, 2], []],
    ['a first column of mixed kinds is the label', 'a|1\n5|2\n@2024-04-01|3', [1], [2]],
  ])('%s', (_, picture, labelColumns, valueColumns) => expect(read(picture)).toMatchObject({ labelColumns, valueColumns }));

  it('gives numbers by row and value column, null where there is none, with the unit of each column', () => {
    const { rows, matrix, units, columnCount } = read("りんご|1|2.5\n\nみかん|-|'1,200.5\nもも|3|");
    expect(rows).toEqual([1, 3, 4]);
    expect(matrix).toEqual([
      [1, 2.5],
      [null, 1200.5],
      [3, null],
    ]);
    expect(units).toEqual([1, 0.1]);
    expect(columnCount).toBe(3);
  });

  it('takes lengths of time for values in minutes, and times of day not', () => {
    const view = drawSheet(
      '青木|@1899-12-31T09:00|@1899-12-31T07:30\n伊藤|@1899-12-31T10:00|@1900-01-01T09:30\n上田|@1899-12-31T09:00|@1900-01-02',
      {
        formats: { B: 'h:mm', C: '[h]:mm' },
      },
    );
    expect(readTableRows(view, usedRange(view), 1)).toMatchObject({ valueColumns: [3], matrix: [[450], [2010], [2880]] });
  });

  it('begins at the first row of data', () => {
    const view = drawSheet('品名|数量\nりんご|1');
    expect(readTableRows(view, usedRange(view), 2).rows).toEqual([2]);
  });
});
