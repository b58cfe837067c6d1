import { describe, expect, it } from 'vitest';
import { formatRange } from '../../core/a1/address.ts';
import { findBlocks } from '../../core/structuring/regions/regions.ts';
import { drawSheet, type PictureOptions } from './picture.ts';

/** Each block as the ranges of what was found in it. */
function blocksOf(picture: string, options?: PictureOptions) {
  return findBlocks(drawSheet(picture, options)).map(({ table, form, above, below }) => ({
    table: table && formatRange(table.range),
    header: table?.headerRows ?? [],
    form: form.map(({ range }) => formatRange(range)),
    above: above.map(({ range }) => formatRange(range)),
    below: below.map(({ range }) => formatRange(range)),
  }));
}

describe('findBlocks', () => {
  it('parts a table from the titles above and the notes below it', () => {
    expect(blocksOf('売上表\n|(単位：円)\n品名|数量\nりんご|1\nみかん|2\n※返品を含む\n出典：本社')).toEqual([
      { table: 'A3:B5', header: [3], form: [], above: ['A1', 'B2'], below: ['A6', 'A7'] },
    ]);
  });

  it('takes pairs of label and value for a form', () => {
    expect(blocksOf('申請書\n*所属|営業課|*番号|A12\n*氏名|山田|*役職|主任')).toEqual([
      { table: null, header: [], form: ['A2:D3'], above: ['A1'], below: [] },
    ]);
  });

  it('parts a form from the table below it', () => {
    const found = blocksOf('*請求先:|青木商店\n*請求日:|@2024-04-30\n\n*#品名|*#数量|*#金額\nりんご|10|1000\nみかん|20|1000');
    expect(found.flatMap(({ table }) => table ?? [])).toEqual(['A4:C6']);
    expect(found.flatMap(({ form }) => form)).toEqual(['A1:B2']);
  });

  it('parts what is declared and signed below a table from it', () => {
    const claim =
      '日付|内容|金額\n1|電車|200\n2|タクシー|900\n合計||1100\n\n上記のとおり申請します\n\n署名|…………|日付|…………\n承認|…………|日付|…………';
    expect(blocksOf(claim)).toEqual([{ table: 'A1:C4', header: [1], form: ['A8:D9'], above: [], below: ['A6'] }]);
  });

  it('takes a few named values beside real tables for settings', () => {
    const tables = '*売上\n*#店舗|*#金額\n銀座|100\n新宿|200\n\n\n\n*在庫\n*#品番|*#数量|*#倉庫\nA1|5|東\nA2|7|西';
    const found = blocksOf(`${tables}${'\n'.repeat(8)}税率|0.1\n送料|500`);
    expect(found.map(({ table }) => table)).toEqual(['A2:B4', 'A9:C11', null]);
    expect(found.at(-1)?.form).toEqual(['A19:B20']);
  });

  const report = '地域|1月|2月|3月\n東|1|2|3\n西|4|5|6\n南|7|8|9';
  it.each([
    ['a date here, a number and a text there', '対象年|2011\n標本数|30565\n方法|郵送\n配布|紙', null],
    ['texts under a name', '部門|責任者\n営業|山田\n開発|鈴木\n総務|佐藤', 'A9:B12'],
    ['numbers under a name', '部門|人数\n営業|4\n開発|5\n総務|6', 'A9:B12'],
    ['a sum below them', '締日|@2024-04-30\n前受|100\n注|なし\n合計|100', 'A9:B12'],
  ])('takes pairs away from a wider table for settings or a table: %s', (_, pairs, table) => {
    expect(blocksOf(`${report}\n\n\n\n\n${pairs}`).map((block) => block.table)).toEqual(['A1:D4', table]);
  });

  /** Ranges of the tables, and the rows of their names. */
  const tablesOf = (picture: string, options: PictureOptions) =>
    blocksOf(picture, options).flatMap(({ table, header }) => (table ? [`${table} ${header}`] : []));
  const halves = '*東\n店|金額|数\n銀座|1|5\n新宿|2|6\n店|金額|数\n梅田|3|7\n難波|4|8';
  const beside = '店|金額||店員|額|数\n銀座|1||山田|5|1\n新宿|2||鈴木|6|2\n池袋|3||佐藤|7|3';

  it.each<[string, string, PictureOptions, string[]]>([
    ['tables one below the other without a gap', halves, { tables: ['A2:C4', 'A5:C7'] }, ['A2:C4 2', 'A5:C7 5']],
    ['the same, which nothing marks', halves, {}, ['A2:C7 2']],
    ['one of two tables with a column between', '店|金額||職|数\n銀座|1||a|5\n新宿|2||b|6', { pivots: ['A1:B3'] }, ['A1:B3 1', 'D1:E3 1']],
    ['the same, which nothing marks', '店|金額||職|数\n銀座|1||a|5\n新宿|2||b|6', {}, ['A1:E3 1']],
    ['a table that columns were added to', '店|金額|比\n銀座|1|0.1\n新宿|2|0.2', { pivots: ['A1:B3'] }, ['A1:C3 1']],
    [
      'a table with parents of its names above it',
      '||売上|\n店|区|計画|実績\n銀座|東|1|5\n新宿|西|2|6',
      { tables: ['A2:D4'], merges: ['C1:D1'] },
      ['A1:D4 1,2'],
    ],
    [
      'a table of texts, whose first row looks like any other',
      '銀座|東|直営\n新宿|西|直営\n梅田|南|加盟',
      { tables: ['A1:C3'] },
      ['A1:C3 1'],
    ],
    ['tables over one another, of which the first counts', beside, { tables: ['A1:B4', 'B2:E4'] }, ['A1:B4 1', 'D1:F4 1']],
    ['nothing where only names are left', '店|金額', { tables: ['A1:B1'] }, []],
  ])('reads as the workbook marks it: %s', (_, picture, options, tables) => expect(tablesOf(picture, options)).toEqual(tables));

  it.each<[string, PictureOptions, string[]]>([
    ['a filter', { filter: 'A2:C5' }, ['A1:C5 1,2']],
    ['a filter over a few of the columns', { filter: 'A2:A5' }, ['A1:C5 1']],
  ])('takes the line with %s for the names', (_, options, tables) => {
    expect(tablesOf('担当|区分|備考\n氏名|部署|役職\n山田|営業|主任\n鈴木|開発|課長\n佐藤|総務|部長', options)).toEqual(tables);
  });

  it.each([
    [2, ['A2:D5 2']],
    [3, ['A1:D5 1']],
    [0, ['A1:D5 1']],
  ])('takes the last line of a frozen pane for the names if it names every column: row %i', (frozenRow, tables) => {
    expect(tablesOf('表|||版|\n氏名|部署|役職|級\n山田||主任|一\n鈴木|開発|課長|二\n佐藤|総務|部長|三', { frozenRow })).toEqual(tables);
  });

  it('takes lines of prose for text', () => {
    expect(blocksOf('ご案内\nいつもお世話になっております。\nよろしくお願いいたします。')).toEqual([
      { table: null, header: [], form: [], above: ['A1', 'A2', 'A3'], below: [] },
    ]);
  });
});
