import type { CorpusSheet } from './sheet.ts';

/** Titles, units, totals and notes around a table, as offices and companies print them. */
export const reports: CorpusSheet[] = [
  {
    name: 'a monthly report with title, unit, total and note',
    picture: `
      *支店別売上月報（2024年4月）
                | |       |       | (単位：千円)
      *#支店    | *#予算 | *#実績 | *#差異 | *#達成率
      札幌      | 1200  | 1260  | 60   | 105
      仙台      | 900   | 830   | -70  | 92.2
      福岡      | 1500  | 1710  | 210  | 114
      *合計     | 3600  | 3800  | 200  | 105.6
      ※ 実績は速報値。
      出典：販売管理システム
    `,
    options: { merges: ['A1:E1'] },
    tables: [
      {
        range: 'A3:E7',
        headerRows: [3],
        totalRows: [7],
        columns: ['支店 VARCHAR', '予算 BIGINT', '実績 BIGINT', '差異 BIGINT', '達成率 DOUBLE'],
      },
    ],
  },
  {
    name: 'subtotals of groups and a grand total',
    picture: `
      経費一覧
      部門   | 費目   | 金額
      営業部 | 旅費   | 120
             | 会議費 | 45
             | 小計   | 165
      技術部 | 外注費 | 800
             | 旅費   | 60
             | 小計   | 860
      総計   |        | 1025
    `,
    tables: [{ range: 'A2:C9', headerRows: [2], totalRows: [5, 8, 9], columns: ['部門 VARCHAR', '費目 VARCHAR', '金額 BIGINT'] }],
  },
  {
    name: 'statistics with coded rows and sources below',
    picture: `
      第3表　地域別就業者数
                      |        |        | 単位：千人
      地域コード      | 地域   | 男     | 女
      '01             | 北海道 | 1502   | 1201
      '13             | 東京都 | 4310   | 3805
      '27             | 大阪府 | 2405   | 2011
      '40             | 福岡県 | 1390   | 1207
      注1) 15歳以上の就業者。
      注2) 端数は四捨五入している。
      資料：労働力調査
    `,
    tables: [{ range: 'A3:D7', headerRows: [3], columns: ['地域コード VARCHAR', '地域 VARCHAR', '男 BIGINT', '女 BIGINT'] }],
  },
  {
    name: 'an English summary with a total row and a footnote',
    picture: `
      *Sales by region
      (in thousands of dollars)
      *Region | *Q1  | *Q2  | *Q3
      North   | 410  | 433  | 398
      South   | 305  | 322  | 340
      West    | 512  | 498  | 561
      *Total  | 1227 | 1253 | 1299
      Note: preliminary figures.
    `,
    tables: [{ range: 'A3:D7', headerRows: [3], totalRows: [7], columns: ['Region VARCHAR', 'Q1 BIGINT', 'Q2 BIGINT', 'Q3 BIGINT'] }],
  },
  {
    name: 'a total above its parts',
    picture: `
      都道府県別人口
      地域   | 人口    | 世帯
      全国   | 1007    | 459
      北海道 | 523     | 247
      青森県 | 124     | 51
      岩手県 | 360     | 161
    `,
    tables: [{ range: 'A2:C6', headerRows: [2], totalRows: [3], columns: ['地域 VARCHAR', '人口 BIGINT', '世帯 BIGINT'] }],
  },
];
