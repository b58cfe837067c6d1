import type { CorpusSheet } from './sheet.ts';

/** Rows under rows: statements, budgets and organisations. */
export const hierarchies: CorpusSheet[] = [
  {
    name: 'an income statement with indents and formulas',
    picture: `
      *損益計算書
                    |                    | (単位：百万円)
      *#科目        | *#2022年度         | *#2023年度
      *売上高       | =SUM(B5:B6)~910    | =SUM(C5:C6)~1010
      >製品売上高   | 700                | 780
      >商品売上高   | 210                | 230
      *売上原価     | 520                | 575
      *売上総利益   | =B4-B7~390         | =C4-C7~435
      *販売費       | 140                | 150
      *営業利益     | =B8-B9~250         | =C8-C9~285
    `,
    tables: [{ range: 'A3:C10', headerRows: [3], totalRows: [4], columns: ['科目 VARCHAR', '2022年度 BIGINT', '2023年度 BIGINT'] }],
  },
  {
    name: 'a balance with numbered headings',
    picture: `
      科目           | 前期  | 当期
      1. 流動資産    | 580   | 640
      (1) 現金預金   | 310   | 355
      (2) 売掛金     | 270   | 285
      2. 固定資産    | 920   | 905
      (1) 建物       | 600   | 590
      (2) 機械装置   | 320   | 315
      資産合計       | 1500  | 1545
    `,
    tables: [{ range: 'A1:C8', headerRows: [1], totalRows: [8], columns: ['科目 VARCHAR', '前期 BIGINT', '当期 BIGINT'] }],
  },
  {
    name: 'groups on rows of their own with subtotals',
    picture: `
      店舗   | 当月 | 累計
      *関東  |      |
      >大宮  | 41   | 380
      >千葉  | 37   | 402
      >小計  | 78   | 782
      *関西  |      |
      >京都  | 29   | 300
      >神戸  | 33   | 297
      >小計  | 62   | 597
      *合計  | 140  | 1379
    `,
    tables: [{ range: 'A1:C10', headerRows: [1], totalRows: [5, 9, 10], columns: ['店舗 VARCHAR', '当月 BIGINT', '累計 BIGINT'] }],
  },
  {
    name: 'a cross table with the region written once',
    picture: `
      地域 | 店   | 4月 | 5月
      東   | 仙台 | 11  | 13
           | 盛岡 | 7   | 8
      西   | 広島 | 21  | 20
           | 岡山 | 15  | 17
    `,
    options: { merges: ['A2:A3', 'A4:A5'] },
    tables: [{ range: 'A1:D5', headerRows: [1], columns: ['地域 VARCHAR', '店 VARCHAR', '4月 BIGINT', '5月 BIGINT'] }],
  },
];
