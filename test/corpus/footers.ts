import type { CorpusSheet } from './sheet.ts';

/** What programs and people leave around a table: stamps, pages, signatures, remarks beside it. */
export const footers: CorpusSheet[] = [
  {
    name: 'a stamp above and a page below',
    picture: `
      在庫照会       |        |      | 出力日: 2024/06/30
      品番           | 品名   | 数量 | 棚番
      'P-100         | 軸受   | 40   | 'A-3
      'P-101         | 歯車   | 12   | 'A-4
      'P-205         | ばね   | 380  | 'C-1
                     |        |      | 1/3 ページ
    `,
    tables: [{ range: 'A2:D5', headerRows: [2], columns: ['品番 VARCHAR', '品名 VARCHAR', '数量 BIGINT', '棚番 VARCHAR'] }],
  },
  {
    name: 'signatures below a table',
    picture: `
      *作業日報
      *#時刻 | *#作業   | *#人数 | *#備考
      8:30   | 朝礼     | 12     |
      9:00   | 型枠     | 8      | 雨で中断
      13:00  | 配筋     | 10     |


      承認: 近藤
      作成: 田村
    `,
    tables: [{ range: 'A2:D5', headerRows: [2], columns: ['時刻 VARCHAR', '作業 VARCHAR', '人数 BIGINT', '備考 VARCHAR'] }],
  },
  {
    name: 'averages and a share below the total',
    picture: `
      科目 | 受験者 | 合格者
      国語 | 120    | 96
      数学 | 118    | 71
      英語 | 121    | 88
      合計 | 359    | 255
      平均 | 119.7  | 85
    `,
    tables: [{ range: 'A1:C6', headerRows: [1], totalRows: [5], columns: ['科目 VARCHAR', '受験者 BIGINT', '合格者 BIGINT'] }],
  },
  {
    name: 'a remark some columns to the right',
    picture: `
      店舗 | 売上 | 客数 |  |  |
      本店 | 410  | 51   |  |  | 改装のため休業あり
      北店 | 388  | 47   |  |  |
      南店 | 297  | 33   |  |  |
      東店 | 305  | 40   |  |  |
    `,
    tables: [{ range: 'A1:C5', headerRows: [1], columns: ['店舗 VARCHAR', '売上 BIGINT', '客数 BIGINT'] }],
  },
];
