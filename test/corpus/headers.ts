import type { CorpusSheet } from './sheet.ts';

/** Periods across the columns, and headers of several rows. */
export const headers: CorpusSheet[] = [
  {
    name: 'months across with a total of the year',
    picture: `
      品目   | 4月 | 5月 | 6月 | 合計
      りんご | 10  | 12  | 9   | 31
      みかん | 21  | 19  | 25  | 65
      もも   | 3   | 8   | 14  | 25
    `,
    tables: [{ range: 'A1:E4', headerRows: [1], columns: ['品目 VARCHAR', '4月 BIGINT', '5月 BIGINT', '6月 BIGINT', '合計 BIGINT'] }],
  },
  {
    name: 'months below their fiscal year',
    picture: `
      *#部門 | *#2023年度 |       |       | *#2024年度 |
             | *#10月     | *#11月 | *#12月 | *#4月     | *#5月
      東     | 1.5        | 2.5   | 3.5   | 4.5        | 5.5
      西     | 6.5        | 7.5   | 8.5   | 9.5        | 1.5
    `,
    options: { merges: ['A1:A2', 'B1:D1', 'E1:F1'] },
    tables: [
      {
        range: 'A1:F4',
        headerRows: [1, 2],
        columns: [
          '部門 VARCHAR',
          '2023年度_10月 DOUBLE',
          '2023年度_11月 DOUBLE',
          '2023年度_12月 DOUBLE',
          '2024年度_4月 DOUBLE',
          '2024年度_5月 DOUBLE',
        ],
      },
    ],
  },
  {
    name: 'plan and actual below each measure',
    picture: `
      *#店舗 | *#売上 |        | *#粗利 |
             | *#計画 | *#実績 | *#計画 | *#実績
      銀座   | 100    | 110    | 40     | 41
      新宿   | 200    | 190    | 80     | 77
      渋谷   | 150    | 149    | 60     | 58
    `,
    options: { merges: ['A1:A2', 'B1:C1', 'D1:E1'] },
    tables: [
      {
        range: 'A1:E5',
        headerRows: [1, 2],
        columns: ['店舗 VARCHAR', '売上_計画 BIGINT', '売上_実績 BIGINT', '粗利_計画 BIGINT', '粗利_実績 BIGINT'],
      },
    ],
  },
  {
    name: 'units below the names',
    picture: `
      測定日      | 気温 | 湿度 | 降水量
                  | (℃)  | (%)  | (mm)
      @2024-06-01 | 22.1 | 61   | 0
      @2024-06-02 | 23.4 | 58   | 0
      @2024-06-03 | 19.8 | 90   | 31.5
    `,
    tables: [{ range: 'A1:D5', headerRows: [1, 2], columns: ['測定日 DATE', '気温_(℃) DOUBLE', '湿度_(%) BIGINT', '降水量_(mm) DOUBLE'] }],
  },
  {
    name: 'years as numbers over the columns',
    picture: `
      項目     | 2021 | 2022 | 2023
      売上高   | 5120 | 5340 | 5010
      従業員数 | 88   | 91   | 90
      店舗数   | 12   | 12   | 13
    `,
    tables: [{ range: 'A1:D4', headerRows: [1], columns: ['項目 VARCHAR', '2021 BIGINT', '2022 BIGINT', '2023 BIGINT'] }],
  },
];
