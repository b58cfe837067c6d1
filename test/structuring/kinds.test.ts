/** Sheets of other kinds than the measured ones, and what a careful person would make of them. */

import { describe, expect, it } from 'vitest';
import { analyze, describeSheets } from '../../core/structuring/index.ts';
import { drawGrid, type PictureOptions } from './picture.ts';

function read(picture: string, options?: PictureOptions) {
  const grid = drawGrid(picture, options);
  const [sheet] = describeSheets('f.xlsx', [grid.sheet], analyze([grid], 'f.xlsx'));
  if (!sheet) throw new Error('no sheet');
  return sheet;
}

function tables(picture: string, options?: PictureOptions) {
  return read(picture, options).tables.map(({ range, header_rows }) => [range, header_rows]);
}

describe('analyze: statistics as offices publish them', () => {
  it('have a title with its unit, merged headers of several rows and notes', () => {
    const sheet = read(
      `
      第１表　都道府県別人口 |        |          |          |        | (単位：人)
      団体コード             | 都道府県 | 令和2年  |          | 令和3年 |
                             |        | 男       | 女       | 男     | 女
      '010006                | 北海道 | 2465088  | 2759526  | 2446123 | 2736910
      '020001                | 青森県 | 583402   | 654582   | 575523 | 645821
      130001                 | 東京都 | 6898388  | 7149206  | 6889223 | 7120742
      140007                 | 神奈川県 | 4588268 | 4649069  | 4586611 | 4649717
      注) 外国人を含む。
      資料：総務省
    `,
      { merges: ['A2:A3', 'B2:B3', 'C2:D2', 'E2:F2'] },
    );
    expect(sheet.tables.map((table) => [table.range, table.header_rows])).toEqual([['A2:F7', [2, 3]]]);
    expect(sheet.notes).toEqual(['A1', 'F1', 'A8', 'A9']);
  });

  it('fill in words where there is no number', () => {
    expect(
      tables(`
        月   | 石油 | ガス | 石炭
             | (千kl) | (百万m3) | (千t)
        1973-01 | 未公表 | 未公表 | 未公表
        1973-02 | 未公表 | 12 | 未公表
        1973-03 | 15 | 13 | 未公表
        1973-04 | 16 | 14 | 3
        1973-05 | 17 | 15 | 4
        1973-06 | 18 | 未公表 | 5
        1973-07 | 19 | 17 | 未公表
        1973-08 | 20 | 18 | 6
        1973-09 | 20 | 18 | 6
        1973-10 | 未公表 | 18 | 6
      `),
    ).toEqual([['A1:D12', [1, 2]]]);
  });

  it('mark their figures', () => {
    expect(
      tables(`
        地域 | 推計値 | 割合
        全国 | 76.3±1.2 | 63.0%*
        東   | 75.0±1.5 | 61.2%*
        西   | 77.7±5.1 | 65.0%
      `),
    ).toEqual([['A1:C4', [1]]]);
  });
});

describe('analyze: lists and exports', () => {
  it('have codes with and without leading zeros, and no header among them', () => {
    expect(
      tables(`
        コード  | 単位 | 部門
        '0111011 | t  | 米
        '0111021 | t  | 小麦
        '0112011 | t  | かんしょ
        '1111011 | t  | 牛肉
        '1111012 | t  | 豚肉
        '1112021 | kl | 牛乳
        '1113011 | t  | 冷凍魚
        '1114011 | t  | 砂糖
      `),
    ).toEqual([['A1:C9', [1]]]);
  });

  it('name hours and days by numbers', () => {
    expect(
      tables(`
        設備 | 1 | 2 | 3 | 4 | 5
        A号機 | 12.5 | 13.1 | 12.9 | 14 | 12.2
        B号機 | 8.1 | 8.3 | 7.9 | 8 | 8.4
        C号機 | 9.1 | 9.3 | 9.9 | 9.2 | 9.4
      `),
    ).toEqual([['A1:F4', [1]]]);
  });

  it('come out of a pivot with its filter above', () => {
    expect(
      tables(`
        種別 | (すべて) |  |  |

        支店 | 品目 | 売上 | 原価 | 利益
        東京 | 米   | 100 | 60 | 40
             | 麦   | 80  | 50 | 30
        大阪 | 米   | 90  | 55 | 35
             | 麦   | 70  | 45 | 25
      `),
    ).toEqual([['A3:E7', [3]]]);
  });
});

describe('analyze: sheets laid out by hand', () => {
  it('are calendars, whose days are data', () => {
    expect(
      tables(`
        2024年6月
        日 | 月 | 火 | 水 | 木 | 金 | 土
           |    |    |    |    |    | 1
        2  | 3  | 4  | 5  | 6  | 7  | 8
        9  | 10 | 11 | 12 | 13 | 14 | 15
        16 | 17 | 18 | 19 | 20 | 21 | 22
        23 | 24 | 25 | 26 | 27 | 28 | 29
        30
      `),
    ).toEqual([['A2:G8', [2]]]);
  });

  it('stand side by side with dates for labels', () => {
    expect(
      tables(`
        *東日本 |      |  | *西日本 |
        月      | 価格 |  | 月      | 価格
        2024年1月 | 11 |  |         |
        2024年2月 | 12 |  | 2024年2月 | 21
        2024年3月 | 13 |  | 2024年3月 | 22
        2024年4月 | 14 |  | 2024年4月 | 23
      `),
    ).toEqual([
      ['A2:B6', [2]],
      ['D2:E6', [2]],
    ]);
  });

  it('follow each other without a gap where a filled header starts again', () => {
    expect(
      tables(`
        #月 | #東 | #西 | #南
        1月 | 10  | 20  | 30
        2月 | 11  | 21  | 31
        3月 | 12  | 22  | 32
        #年 | #東 | #西 | #北
        2022年 | 120 | 220 | 300
        2023年 | 121 | 221 | 301
      `),
    ).toEqual([
      ['A1:D4', [1]],
      ['A5:D7', [5]],
    ]);
  });

  it('have their date above the names', () => {
    expect(
      tables(`
        @2002-01-08

                    |             | 北海道 | 東北
        開始        | 終了        | 買値   | 売値
        @2002-02-01 | @2002-02-28 | 0.06   | 0.03
        @2002-03-01 | @2002-03-31 | 0.02   | 0.05
        @2002-04-01 | @2002-04-30 | 0.12   | 0.1
      `),
    ).toEqual([['A3:D7', [3, 4]]]);
  });

  it('are one table where the squares run on over rows and columns nobody filled in', () => {
    expect(
      tables(
        `
        日付 | 試料 | 所見 |  |  | 結果 | 場所
        1/29 | A-1  |      |  |  | 55   | 北
        1/30 | A-2  |      |  |  | 68   | 北
             |      |      |  |  |      |
        2/5  | A-3  | なし |  |  |      | 南
             |      |      |  |  |      |
             |      |      |  |  |      |
        2/12 | A-4  |      |  |  | 12   | 南
      `,
        { ruled: ['A1:G8'] },
      ),
    ).toEqual([['A1:G8', [1]]]);
  });

  it('have columns that wait to be filled in, beside a blank one', () => {
    expect(
      tables(`
        品目 | *4月予算 | *4月実績 |  | *5月予算 | *5月実績
        米   | 10       | 11       |  |          |
        麦   | 20       | 19       |  |          |
        豆   | 30       | 31       |  |          |
        芋   | 40       | 41       |  |          |
        計   | 100      | 102      |  | 0        | 0
      `),
    ).toEqual([['A1:F6', [1]]]);
  });

  it('are invoices: addresses, a box of sums, then the lines', () => {
    expect(
      tables(
        `
                     |             |              | *御請求書 |
        980-0011     |             |              |           | 株式会社青葉
        米谷商店 御中 |            |              |           | 〒104-0001
                     |             |              |           | 東京都中央区

        #前回ご請求額 | #ご入金額  | #今回お買上額 | #消費税   | #今回ご請求額
        0            | 0           | 206180       | 20618     | 226798

        #日付        | #商品名     | #数量        | #単価     | #金額
        8/1          | 鍋          | 3            | 2480      | 7440
        8/3          | 蓋          | 3            | 900       | 2700
        8/7          | 釜          | 5            | 360       | 1800
      `,
        { ruled: ['A6:E7', 'A9:E12'] },
      ),
    ).toEqual([
      ['A6:E7', [6]],
      ['A9:E12', [9]],
    ]);
  });
});
