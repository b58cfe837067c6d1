/** Sheets as people make them, and what somebody who reads them with care would put into tables. */

import { describe, expect, it } from 'vitest';
import { listGroups } from '../../core/structuring/reports/groups.ts';
import type { ReportRow } from '../../core/structuring/reports/report.ts';
import { drawGrid, type PictureOptions } from './picture.ts';
import { rowsOf, structure } from './structure.ts';

function read(picture: string, options?: PictureOptions) {
  const sheet = structure([drawGrid(picture, options)]);
  /** The first texts of the rows of all tables of these roles. */
  const labels = (...roles: string[]) =>
    sheet.result.tables
      .filter(({ role }) => roles.includes(role))
      .flatMap((table) => {
        const at = Math.max(
          table.columns.findIndex(({ name }) => name === '科目'),
          0,
        );
        return [...new Set(rowsOf(table).map((row) => row[at]))];
      });
  return { ...sheet, details: labels('data', 'level'), computed: labels('computed') };
}

describe('build: what is computed', () => {
  it.each([
    [
      'results of groups that have totals',
      '科目|2022|2023\nRevenue:\n>Products|182400|160210\n>Services|91340|80120\n>Total revenue|273740|240330\nCosts:\n>Products|101200|95000\n>Services|30100|28200\n>Total costs|131300|123200\nGross profit|142440|117130',
      ['Products', 'Services'],
      ['Gross profit', 'Total revenue', 'Total costs'],
    ],
    [
      'sums that are called after what they sum',
      '項目|1月|2月\n*収入\n給与|300000|310000\n副業|20000|15000\n収入計|320000|325000\n*支出\n食費|52000|48000\n家賃|85000|85000\n支出計|137000|133000',
      ['給与', '副業', '食費', '家賃'],
      ['収入計', '支出計'],
    ],
    [
      'a profit, and not the profit before it as the sum of costs and what is left',
      '科目|1Q|2Q|3Q\n売上高|1200|1320|1410\n売上原価|800|870|930\n売上総利益|400|450|480\n販管費|250|260|270\n営業利益|150|190|210',
      ['売上高', '売上原価', '販管費'],
      ['売上総利益', '営業利益'],
    ],
    [
      'averages and extremes that the numbers bear out',
      '氏名|数学|理科\n青木|88|92\n伊藤|75|70\n上田|93|89\n平均|85.33|83.67\n最高|93|92\n最低|75|70',
      ['青木', '伊藤', '上田'],
      ['平均', '最高', '最低'],
    ],
    [
      'no average that is none',
      '指標|2019|2020\n発電量|32100|30900\n平均価格|14.4|15.1\n排出量|6120|5480',
      ['発電量', '平均価格', '排出量'],
      [],
    ],
    [
      'the last row that sums all others, whatever it is called',
      'Q5|18-29|30-44|45-59|60+\nYes|40|52|61|133\nNo|22|31|28|140\nBase|62|83|89|273',
      ['Yes', 'No'],
      ['Base'],
    ],
    [
      'the subtotals of a list of days',
      '日付|顧客|品|数|額\n@2024-01-03|青|A|4|40\n@2024-01-09|青|B|2|50\n|青 小計||6|90\n@2024-01-04|赤|A|1|10\n@2024-01-17|赤|C|3|99\n|赤 小計||4|109',
      ['2024-01-03', '2024-01-09', '2024-01-04', '2024-01-17'],
      [null],
    ],
  ])('%s', (_, picture, details, computed) => {
    const found = read(picture);
    expect(found.details).toEqual(details);
    expect(found.computed).toEqual(computed);
  });

  it('shares where one row by another gives them', () => {
    const picture = '科目|1Q|2Q|3Q\n売上|1000|1100|1210\n原価|610|660|700\n粗利|390|440|510\n粗利率|39|40|42.15';
    expect(read(picture).computed).toEqual(['粗利率']);
  });

  it.each([
    [
      'below',
      '地域|数|額\n甲|10|25\n乙|20|50\n北|30|75\n丙|8|20\n丁|12|24\n南|20|44\n社|50|119',
      { 2: 1, 3: 1, 5: 1, 6: 1 },
      ['北', '南', '社'],
    ],
    ['above', '科目|1月|2月\n旅費|310|420\n鉄道|230|330\n宿泊|80|90\n研修|500|0', { 3: 1, 4: 1 }, []],
  ])('the sum %s rows that were grouped', (_, picture, outlines, computed) => {
    const found = read(picture, { outlines });
    expect(found.computed).toEqual(computed);
    if (computed.length === 0) expect(found.rows('file_階層2').map((row) => row.科目_階層1)).toContain('旅費');
  });
});

describe('build: names and values', () => {
  it('reads the head of an invoice as fields, with addresses that go on beside them', () => {
    const found = read(
      '*請求書\n*請求番号:|A-17||*日付:|@2024-03-14\n*宛先:|北風商会||*期限:|@2024-04-13\n|港区1-2||*注文番号:|88213\n\n#*数|#*品名|#*単価|#*金額\n2|インク|54.5|109\n10|紙|21.99|219.9\n||小計|328.9',
    );
    expect(found.table('Sheet1').columns.map(({ name }) => name)).toEqual(['数', '品名', '単価', '金額']);
    expect(found.rows('Sheet1_項目_補足情報').map((row) => [row.項目, row.値])).toEqual([
      ['請求番号:', 'A-17'],
      ['日付:', '2024-03-14'],
      ['宛先:', '北風商会'],
      ['期限:', '2024-04-13'],
      ['港区1-2', null],
      ['注文番号:', '88213'],
    ]);
  });

  it.each([
    ['a list of texts', '*日報\n日付|@2024-06-12|氏名|中村\n天候|雨\n\n時間|訪問先|内容|結果\n十時|甲社|紹介|見積\n一時|乙社|相談|解決'],
    ['figures', '日付|@2024-06-12|氏名|中村\n期間|@2024-06-10|～|@2024-06-12\n\n時間|訪問先|内容|結果\n1|甲社|紹介|20\n2|乙社|相談|30'],
  ])('keeps the fields of a form out of the names over %s', (_, picture) => {
    const [first] = read(picture).result.tables;
    expect(first?.columns.map(({ name }) => name)).toEqual(['時間', '訪問先', '内容', '結果']);
    expect(first?.rowCount).toBe(2);
  });

  it('takes names of people and roles for names of columns, not for a field', () => {
    const found = read('*East\nMonth|Orders|Sum\nJan|12|144\nFeb|15|180\nTotal|27|324\n\n*Staff\nName|Role\nAnn|Lead\nBob|Clerk');
    expect(found.rows('Staff')).toEqual([
      { Name: 'Ann', Role: 'Lead' },
      { Name: 'Bob', Role: 'Clerk' },
    ]);
  });

  it('parts fields below their names from the table below them', () => {
    const picture = '*作業報告書\n\n#顧客名|#案件|#作業者\n甲商事|P-1|山本\n\n#作業|#開始|#時間\n点検|十時|2\n確認|一時|1.5';
    const found = read(picture);
    expect(found.rows('作業報告書')).toEqual([{ 顧客名: '甲商事', 案件: 'P-1', 作業者: '山本' }]);
    expect(found.columns('Sheet1')).toEqual(['作業 VARCHAR', '開始 VARCHAR', '時間 DOUBLE']);
  });

  it('puts the name of a part of a list beside its rows', () => {
    const found = read('No|項目|担当|状況\n【準備】\n1|会場|田中|済\n2|案内|鈴木|未\n【当日】\n3|受付|佐藤\n4|司会|伊藤');
    expect(found.rows('file').map((row) => [row.区分, row.No, row.項目])).toEqual([
      ['【準備】', 1, '会場'],
      ['【準備】', 2, '案内'],
      ['【当日】', 3, '受付'],
      ['【当日】', 4, '司会'],
    ]);
  });

  it('leaves rows of one cell alone that name nothing', () => {
    const found = read('品|数|価|注\nペン|10|1.2|a\n(青)\n紙|5|4|b\n(厚い)\n針|20|0.1|c');
    expect(found.names.some((name) => name === 'file' && found.table(name).columns[0]?.name === '区分')).toBe(false);
  });

  it('leaves out names that come again on the next page', () => {
    const found = read('氏名|課|給与\n青木|A|100\n伊藤|A|110\n氏名|課|給与\n上田|B|120\n江口|B|130');
    expect(found.rows('file').map((row) => row.給与)).toEqual([100, 110, 120, 130]);
  });

  it('reads amounts with a comma before the decimals, blanks between thousands and the currency behind', () => {
    const found = read('項目|予定|実績\n家賃|1 200,00 €|1 200,00 €\n電気|310,50 €|355,20 €');
    expect(found.rows('file').map((row) => row.実績)).toEqual([1200, 355.2]);
  });

  it('takes a text right below the total for a note', () => {
    const found = read('回答|数\nはい|42\nいいえ|51\n合計|93\nn=93 無回答を除く');
    expect(found.details).toEqual(['はい', 'いいえ']);
    expect(found.rows('Sheet1_補足情報').map((row) => [row.種別, row.内容])).toEqual([['注記', 'n=93 無回答を除く']]);
  });

  it('does not take scribbles beyond the printed area into the table', () => {
    const picture = '品|数|価|額\n軸|10|3.2|32\n歯車|40|0.8|32\n板|4|22|88\n\n試算|36|2|72\n旧値|230|1|230';
    expect(read(picture).details).toContain('旧値');
    expect(read(picture, { printed: 'A1:D4' }).details.slice(0, 3)).toEqual(['軸', '歯車', '板']);
    expect(
      read(picture, { printed: 'A1:D4' })
        .result.tables.filter(({ role }) => role === 'data')
        .map(({ rowCount }) => rowCount)[0],
    ).toBe(3);
  });

  it('fills a merged group beside the labels of its rows', () => {
    const found = read(
      '地域|区分|2021年|2022年\n東|男|100|110\n|女|105|112\n|計|205|222\n西|男|80|85\n|女|82|88\n|計|162|173\n全国||367|395',
      {
        merges: ['A2:A4', 'A5:A7'],
      },
    );
    expect(found.rows('file_階層2').map((row) => `${row.科目_階層1} ${row.科目}`)).toEqual([
      '東 男',
      '東 男',
      '東 女',
      '東 女',
      '西 男',
      '西 男',
      '西 女',
      '西 女',
    ]);
  });
});

describe('build: days', () => {
  it('takes the ticks of a plan for values under its days, which get their month', () => {
    const found = read(
      '*計画\n||||March 2024|||April 2024\n*Task|*Owner|*Start|*End|29|30|31|1|2|3\n調査|甲|@2024-03-29|@2024-03-30|x|x\n設計|乙|@2024-03-31|@2024-04-01|||x|x\n製造|丙|@2024-04-01|@2024-04-03||||x|x|x',
      {
        merges: ['E2:G2', 'H2:J2'],
      },
    );
    expect(
      found
        .rows('計画')
        .filter((row) => row.値 === 'x')
        .map((row) => [row.Task, row.期間開始]),
    ).toEqual([
      ['調査', '2024-03-29'],
      ['調査', '2024-03-30'],
      ['設計', '2024-03-31'],
      ['設計', '2024-04-01'],
      ['製造', '2024-04-01'],
      ['製造', '2024-04-02'],
      ['製造', '2024-04-03'],
    ]);
  });

  it.each([
    ['2024年7月シフト', '2024-07-01'],
    ['2024|年|7|月', '2024-07-01'],
    ['Rota|July 2024', '2024-07-01'],
    ['年度|2024\n月|7', '2024-07-01'],
    ['シフト', undefined],
  ])('days below %s begin on %s', (title, start) => {
    const found = read(
      `${title}\n\n*氏名|1|2|3|4|5|6|7|*日数\n|月|火|水|木|金|土|日\n山田|早|早|休|遅|遅|休|休|4\n鈴木|遅|遅|早|休|早|夜|明|6`,
    );
    const table = found.result.tables.find(({ role }) => role === 'data');
    const at = table?.columns.findIndex(({ name }) => name === '期間開始') ?? -1;
    expect(rowsOf(table)[0]?.[at]).toBe(start);
  });

  it('keeps the year over all columns but the labels with them', () => {
    const found = read('業績\n|2023年度\n科目|第1四半期|第2四半期\n売上|1200|1320\n原価|800|870', { merges: ['B2:C2'] });
    expect(found.rows('業績').map((row) => row.期間開始)).toEqual(['2023-04-01', '2023-07-01', '2023-04-01', '2023-07-01']);
  });
});

it('groups of a very long report are found as those of a short one', () => {
  const rows = Array.from({ length: 300_000 }, (_, k) => ({ row: k + 1, virtual: false }) as ReportRow);
  const outlines = new Map(rows.filter(({ row }) => row % 3 > 0).map(({ row }) => [row, 1]));
  const groups = listGroups(rows, outlines);
  expect(groups.length).toBe(100_000);
  expect(groups[1]).toEqual({ parts: [3, 4], all: [3, 4], beside: [5, 2] });
});
