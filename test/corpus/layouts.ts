import type { CorpusSheet } from './sheet.ts';

/** Several tables on a sheet, forms, and tables below forms. */
export const layouts: CorpusSheet[] = [
  {
    name: 'two tables side by side',
    picture: `
      *新卒採用 |      |  | *中途採用 |      |
      学部      | 人数 |  | 職種      | 人数 | 平均年齢
      工学      | 14   |  | 設計      | 3    | 34.5
      経済      | 9    |  | 購買      | 2    | 41.2
      文学      | 4    |  | 経理      | 1    | 29
                |      |  | 法務      | 1    | 38
    `,
    tables: [
      { range: 'A2:B5', headerRows: [2], columns: ['学部 VARCHAR', '人数 BIGINT'] },
      { range: 'D2:F6', headerRows: [2], columns: ['職種 VARCHAR', '人数 BIGINT', '平均年齢 DOUBLE'] },
    ],
  },
  {
    name: 'two tables one below the other, each with its title',
    picture: `
      *■ 売上
      *#店舗 | *#金額
      本店   | 3200
      駅前店 | 2100

      *■ 在庫
      *#品番 | *#数量 | *#倉庫
      'A-1   | 52     | 東
      'A-2   | 17     | 西
      'A-3   | 8      | 東
    `,
    tables: [
      { range: 'A2:B4', headerRows: [2], columns: ['店舗 VARCHAR', '金額 BIGINT'] },
      { range: 'A7:C10', headerRows: [7], columns: ['品番 VARCHAR', '数量 BIGINT', '倉庫 VARCHAR'] },
    ],
  },
  {
    name: 'the same table again for the next branch',
    picture: `
      東京支店
      月  | 売上 | 費用
      4月 | 120  | 80
      5月 | 135  | 90
      大阪支店
      月  | 売上 | 費用
      4月 | 95   | 70
      5月 | 99   | 71
    `,
    tables: [
      { range: 'A2:C4', headerRows: [2], columns: ['月 VARCHAR', '売上 BIGINT', '費用 BIGINT'] },
      { range: 'A6:C8', headerRows: [6], columns: ['月 VARCHAR', '売上 BIGINT', '費用 BIGINT'] },
    ],
  },
  {
    name: 'a form without a table',
    picture: `
      *休暇届

      *氏名   | 佐藤 健 | *所属 | 製造部
      *社員番号 | 'M-220 | *区分 | 年次有給
      *理由   | 私用のため

      ※ 前日までに提出すること。
    `,
    options: { merges: ['A1:D1'] },
    tables: [],
  },
  {
    name: 'an invoice: a form above, sums below',
    picture: `
      *御請求書
      *請求先: | 株式会社 みどり
      *発行日: | @2024-05-31

      *#品名     | *#数量 | *#単価 | *#金額
      保守作業   | 3      | 20000  | 60000
      部品       | 12     | 1500   | 18000
                 |        | 小計   | 78000
                 |        | 消費税 | 7800
                 |        | 合計   | 85800
    `,
    tables: [
      {
        range: 'A5:D10',
        headerRows: [5],
        totalRows: [8, 10],
        columns: ['品名 VARCHAR', '数量 BIGINT', '単価 BIGINT', '金額 BIGINT'],
      },
    ],
  },
  {
    name: 'nothing but text',
    picture: `
      お知らせ
      来月より受付時間が変わります。
      詳しくは総務までお問い合わせください。
    `,
    tables: [],
  },
];
