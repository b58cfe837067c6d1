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

  it('takes lines of prose for text', () => {
    expect(blocksOf('ご案内\nいつもお世話になっております。\nよろしくお願いいたします。')).toEqual([
      { table: null, header: [], form: [], above: ['A1', 'A2', 'A3'], below: [] },
    ]);
  });
});
