import { describe, expect, it } from 'vitest';
import { formatRange } from '../../core/a1/address.ts';
import { splitSheet } from '../../core/structuring/regions/split.ts';
import { splitColumns } from '../../core/structuring/regions/splitColumns.ts';
import { splitRows } from '../../core/structuring/regions/splitRows.ts';
import { readLines } from '../../core/structuring/sheet/lines.ts';
import { drawSheet, type PictureOptions, usedRange } from './picture.ts';

type Split = typeof splitColumns;

function rangesOf(split: Split, picture: string, options?: PictureOptions): string[] | null {
  const view = drawSheet(picture, options);
  const block = usedRange(view);
  return split(view, block, readLines(view, block))?.map(formatRange) ?? null;
}

const left = '部門|人数\n営業|12\n開発|20\n総務|3';
const sideBySide = '部門|人数||職種|人数|採用\n営業|12||設計|5|1\n開発|20||購買|6|2\n総務|3||経理|7|3\n|||法務|8|4';

describe('splitColumns', () => {
  it.each<[string, string, PictureOptions, string[] | null]>([
    ['two tables of different length', sideBySide, {}, ['A1:C5', 'D1:F5']],
    ['two tables with two blank columns between', '部門|人数|||職種|数\n営業|12|||設計|5\n開発|20|||購買|6', {}, ['A1:D3', 'E1:F3']],
    ['one table where a blank column is all that parts them', '部門|人数||職種|数\n営業|12||設計|5\n開発|20||購買|6', {}, null],
    ['one table without a gap', left, {}, null],
    ['one table whose columns are spaced', "品番||品名||在庫\n'A01||ボルト||5\n'A02||ナット||7", {}, null],
    [
      'no table where the gap is ruled: cells that nobody filled in',
      '部門|人数||備考|印\n営業|12||a|b\n開発|20||c|d\n総務|3||e|f',
      { ruled: ['A1:E4'] },
      null,
    ],
    ['the same header again without a gap', '店|額|店|額\n銀座|1|梅田|5\n新宿|2|難波|6\n池袋|3|天満|7', {}, ['A1:B4', 'C1:D4']],
  ])('finds %s', (_, picture, options, expected) => expect(rangesOf(splitColumns, picture, options)).toEqual(expected));
});

describe('splitRows', () => {
  it.each<[string, string, PictureOptions, string[] | null]>([
    [
      'a table with its title below another',
      '*売上\n#店舗|#金額\n銀座|100\n新宿|200\n\n*在庫\n#品番|#数量|#倉庫\nA1|5|東\nA2|7|西',
      {},
      ['A1:C4', 'A6:C9'],
    ],
    ['one table with a blank row in it', '店舗|金額\n銀座|100\n新宿|200\n\n池袋|300\n渋谷|400', {}, null],
    [
      'one table where lines run down through the blank row',
      '店舗|金額|数\n銀座|1|2\n\n品番|数量|倉庫\nA1|5|東',
      { ruled: ['A1:C5'] },
      null,
    ],
    [
      'a header that comes again under its own title',
      '東日本\n店舗|金額\n銀座|100\n新宿|200\n西日本\n店舗|金額\n梅田|300\n難波|400',
      {},
      ['A1:B4', 'A5:B8'],
    ],
    [
      'a header that comes again with a name of its own in it',
      '番号|名称|受入先|1月|2月\n1|東|a|10|20\n2|西|b|30|40\n\n番号|名称|払出先|1月|2月\n3|南|c|50|60\n4|北|d|70|80',
      {},
      ['A1:E3', 'A5:E7'],
    ],
    [
      'a styled header that comes again under another corner, without a gap',
      '*東部|*案件|*部門|*確度\n山田|a|営業|高\n鈴木|b|開発|低\n*西部|*案件|*部門|*確度\n佐藤|c|営業|中\n伊藤|d|開発|低',
      {},
      ['A1:D3', 'A4:D6'],
    ],
    [
      'one statement that goes on as narrow as it was, below a total',
      '項目|1月|2月|3月|4月|5月|6月|7月\n売上|1|2|3|4|5|6|7\n費用|1|2|3|4|5|6|7\n利益|1|2|3|4|5|6|7\n税|1|2|3|4|5|6|7\n資産|||||5|6|7\n資産合計|||||5|6|7\n\n借入|||||1|2|3\n資本|||||4|4|4',
      {},
      null,
    ],
    [
      'one table whose years stand below the names of other columns',
      '国|*面積||*2003||*2004\n\n|||農場|売上|農場\n\n|*2001|*2002\n\n日|10|11|1|2|3\n独|20|21|3|4|5\n仏|30|31|5|6|7',
      {},
      null,
    ],
    [
      'one table where rows of texts are much alike',
      '*部|*案件|*部門|*確度\n山田|a|営業|高\n鈴木|a|営業|高\n佐藤|a|営業|高\n\n伊藤|a|営業|高\n加藤|a|営業|高',
      {},
      null,
    ],
  ])('finds %s', (_, picture, options, expected) => expect(rangesOf(splitRows, picture, options)).toEqual(expected));
});

describe('splitSheet', () => {
  const splitOf = (picture: string) => splitSheet(drawSheet(picture)).map(formatRange);

  it('cuts columns and rows in turn', () => {
    expect(splitOf(`${sideBySide}\n\n\n*#品番|*#数量|*#倉庫\nA1|5|東\nA2|7|西`)).toEqual(['A1:B4', 'D1:F5', 'A8:C10']);
  });

  it('keeps one table whole, and gives nothing for a blank sheet', () => {
    expect(splitOf(left)).toEqual(['A1:B4']);
    expect(splitOf('')).toEqual([]);
  });
});
