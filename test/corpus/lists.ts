import type { CorpusSheet } from './sheet.ts';

export const lists: CorpusSheet[] = [
  {
    name: 'a plain list',
    picture: `
      *社員番号 | *氏名     | *部署 | *入社日     | *基本給
      '0012     | 青山 一郎 | 営業  | @2015-04-01 | 312000
      '0034     | 石井 花子 | 開発  | @2018-10-01 | 298500
      '0101     | 上田 次郎 | 総務  | @2021-04-01 | 251000
      '0102     | 江口 直美 | 開発  | @2021-04-01 | 251000
    `,
    tables: [
      { range: 'A1:E5', headerRows: [1], columns: ['社員番号 VARCHAR', '氏名 VARCHAR', '部署 VARCHAR', '入社日 DATE', '基本給 BIGINT'] },
    ],
  },
  {
    name: 'a list of texts with nothing but a style to tell its header',
    picture: `
      *#問い合わせ先 | *#担当   | *#受付時間
      東京窓口       | 木村     | 平日のみ
      大阪窓口       | 近藤     | 年中無休
      福岡窓口       | 斎藤     | 平日のみ
    `,
    tables: [{ range: 'A1:C4', headerRows: [1], columns: ['問い合わせ先 VARCHAR', '担当 VARCHAR', '受付時間 VARCHAR'] }],
  },
  {
    name: 'an export with numbers written as text',
    picture: `
      order_id | customer   | ordered_on   | amount      | paid
      '000917  | Aoki & Co. | '2024/04/02  | '1,280.50   | yes
      '000918  | Beppu Ltd. | '2024/04/02  | '940.00     | no
      '000919  | Chiba KK   | '2024/04/05  | '12,000.25  | yes
    `,
    tables: [
      {
        range: 'A1:E4',
        headerRows: [1],
        columns: ['order_id VARCHAR', 'customer VARCHAR', 'ordered_on DATE', 'amount DOUBLE', 'paid BOOLEAN'],
      },
    ],
  },
  {
    name: 'a stock list with marks for nothing and a total',
    picture: `
      品番  | 品名       | 在庫 | 発注残 | 単価
      'B-01 | 六角ボルト | 1200 | -      | 8.5
      'B-02 | 平座金     | 3400 | 500    | 1.2
      'N-11 | ナット     | 2100 | -      | 3.4
      合計  |            | 6700 | 500    |
    `,
    tables: [
      {
        range: 'A1:E5',
        headerRows: [1],
        totalRows: [5],
        columns: ['品番 VARCHAR', '品名 VARCHAR', '在庫 BIGINT', '発注残 BIGINT', '単価 DOUBLE'],
      },
    ],
  },
  {
    name: 'a list with a blank row between groups',
    picture: `
      店舗   | 売上 | 客数
      銀座   | 5210 | 310
      新宿   | 4870 | 402

      梅田   | 3920 | 288
      難波   | 4105 | 301
    `,
    tables: [{ range: 'A1:C6', headerRows: [1], columns: ['店舗 VARCHAR', '売上 BIGINT', '客数 BIGINT'] }],
  },
];
