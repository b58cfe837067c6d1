import { describe, expect, it } from 'vitest';
import { findHeader, isFilled, placeOfSingle, weighLine } from '../../core/structuring/headers/header.ts';
import { profileColumns, readLines } from '../../core/structuring/sheet/lines.ts';
import { drawSheet, type PictureOptions, usedRange } from './picture.ts';

function read(picture: string, options?: PictureOptions) {
  const view = drawSheet(picture, options);
  const block = usedRange(view);
  return { view, block, lines: readLines(view, block) };
}

/** First row of the table, header rows and first row of data, as rows of the sheet. */
function shapeOf(picture: string, options?: PictureOptions) {
  const { view, block, lines } = read(picture, options);
  const { top, header, firstData } = findHeader(view, block, lines);
  const row = (k: number) => lines[k]?.row;
  return [row(top), header.map(row), row(firstData)];
}

describe('findHeader', () => {
  it.each<[string, string, PictureOptions, unknown[]]>([
    ['one row of names over numbers', '品名|数量|単価\nりんご|1|100\nみかん|2|50', {}, [1, [1], 2]],
    ['titles above it', '売上表\n(単位：円)\n品名|数量|単価\nりんご|1|100\nみかん|2|50', {}, [3, [3], 4]],
    [
      'two rows with a merged parent',
      '部門|売上||利益\n|計画|実績|実績\n東|10|11|1\n西|20|19|2',
      { merges: ['A1:A2', 'B1:C1'] },
      [1, [1, 2], 3],
    ],
    ['years as names', '項目|2021|2022|2023\n売上|10|20|30\n費用|5|6|7', {}, [1, [1], 2]],
    ['units below the names', '月|石油|ガス\n|(kl)|(m3)\n1月|15|13\n2月|16|14', {}, [1, [1, 2], 3]],
    ['texts only: the first full line', '氏名|部署|役職\n山田|営業|主任\n鈴木|開発|課長', {}, [1, [1], 2]],
    ['texts only, two styled rows', '*氏名|*所属|\n*姓名|*部|*課\n山田|営業|一課\n鈴木|開発|二課\n佐藤|開発|三課', {}, [1, [1, 2], 3]],
    [
      'no label of a form that nobody has filled in',
      '注文書\n|||希望納期：\n品番|品名|単価|個数\nA1|ボルト|10|5\nA2|ナット|20|6\nA3|座金|30|7',
      {},
      [3, [3], 4],
    ],
    [
      'no first group right below names for every column',
      '品番|品名|単価|個数\n|金物\nA1|ボルト|10|5\nA2|ナット|20|6\n|工具\nA3|鋸|30|7',
      {},
      [1, [1], 2],
    ],
    [
      'texts only, below plain lines the one with a fill',
      '*権限表|||読取\n*電力|||実行\n|||なし\n#氏名|#役職|#期間|#権限\n山田|主任|年|実行\n鈴木|課長|月|読取',
      {},
      [4, [4], 5],
    ],
    [
      'a month repeated over its days',
      '受入|||2月|2月|2月|2月\n番号|名称|先|1|2|3|4\n644|東|a|20|21|22|29\n645|西|b|31|35|36|37\n646|南|c|41|43|48|46',
      {},
      [1, [1, 2], 3],
    ],
    [
      'names that end with a colon among names for every column',
      '|||月|年\n場所|棟|定格：|出力|合計\n||kW||\n東|A|10|20|30\n西|B|11|21|31\n南|C|12|22|32',
      {},
      [1, [1, 2, 3], 4],
    ],
    [
      'no line to be signed above it',
      '申請|……………|日付|……………\n品番|品名|単価|個数\nA1|ボルト|10|5\nA2|ナット|20|6\nA3|座金|30|7',
      {},
      [2, [2], 3],
    ],
    [
      'years that go on beyond what else looks like one',
      '項目|2098|2099|2100|2101|2102|2103|2104\n売上|10|20|30|40|50|60|70\n費用|5|6|7|8|9|10|11\n利益|5|14|23|32|41|50|59',
      {},
      [1, [1], 2],
    ],
    [
      'no title with a number, and no line as of a day above it',
      '令和２年|統計調査|令和２年12月31日現在|人\n|第５３表　薬剤師数\n|||総数|薬局|病院|診療所|大学|企業|官庁\n|全国||9|8|7|6|5|4|3\n|東||1|2|3|4|5|6|7\n|西||2|3|4|5|6|7|8',
      {},
      [3, [3], 4],
    ],
    ['no header: numbers from the first row on', '1|2|3\n4|5|6\n7|8|9', {}, [1, [], 1]],
  ])('finds %s', (_, picture, options, expected) => expect(shapeOf(picture, options)).toEqual(expected));
});

describe('weighLine', () => {
  const { view, block, lines } = read('品名|数量|単価\nりんご|1|100\nみかん|2|50\nもも|3|60');
  const profiles = profileColumns(view, block, lines.slice(1));
  const weigh = (k: number) => {
    const line = lines[k];
    if (!line) throw new Error('no such line');
    return weighLine(view, block, line, profiles);
  };

  it('counts texts over numbers for the header, and numbers among numbers for data', () => {
    const [names, row] = [weigh(0), weigh(1)];
    expect(names.header).toBeGreaterThan(names.data);
    expect(row.data).toBeGreaterThan(row.header);
  });

  it('counts nothing for a rule drawn with dashes', () => {
    const ruled = read('品名|数量\n---|---\nりんご|1\nみかん|2');
    const [, line] = ruled.lines;
    const evidence = line && weighLine(ruled.view, ruled.block, line, profileColumns(ruled.view, ruled.block, ruled.lines.slice(2)));
    expect(evidence).toEqual({ header: 0, data: 0 });
  });
});

describe('isFilled', () => {
  it.each([
    ['#a|#b|c', true],
    ['#a|b', false],
  ])('of %s is %s: more than half of its cells', (picture, filled) => {
    const [line] = read(picture).lines;
    expect(line && isFilled(line)).toBe(filled);
  });
});

describe('placeOfSingle', () => {
  it.each([
    ['at the left edge', '題\na|b|c|d', [], 'left'],
    ['merged over the whole width', '題\na|b|c|d', ['A1:D1'], 'whole'],
    ['above some columns', '||題\na|b|c|d', [], 'inner'],
  ])('tells a cell %s', (_, picture, merges, place) => {
    const { view, block, lines } = read(picture, { merges });
    const [line] = lines;
    expect(line && placeOfSingle(view, block, line)).toBe(place);
  });
});
