import { describe, expect, it } from 'vitest';
import { drawGrid } from './picture.ts';
import { structure } from './structure.ts';

describe('build: a sheet that is one table', () => {
  it('takes the name of the file and nothing else comes out', () => {
    const out = structure(
      [
        drawGrid(`
          *#コード | *#氏名 | *#入社日     | *#備考
          '001     | 山田   | @2020-04-01  |
          '002     | 鈴木   | @2021-10-01  | 休職中
        `),
      ],
      'folder/社員名簿.xlsx',
    );
    expect(out.names).toEqual(['社員名簿']);
    expect(out.columns('社員名簿')).toEqual(['コード VARCHAR', '氏名 VARCHAR', '入社日 DATE', '備考 VARCHAR']);
    expect(out.rows('社員名簿')[1]).toEqual({ コード: '002', 氏名: '鈴木', 入社日: '2021-10-01', 備考: '休職中' });
    expect(out.result.archivedRaw).toEqual(['社員名簿_原本']);
  });

  it('is told apart by the sheet where several would take the name of the file', () => {
    const sheet = (name: string) => drawGrid('品名|数量\nりんご|1\nみかん|2', { sheet: name });
    expect(structure([sheet('東'), sheet('西')], '在庫.xlsx').names).toEqual(['在庫_東', '在庫_西']);
  });

  it('names columns without a name, and repeated ones', () => {
    const out = structure([drawGrid('|金額|金額||\nりんご|1|2|x|3\nみかん|3|4|y|5')], 'f.xlsx');
    expect(out.columns('f').map((column) => column.split(' ')[0])).toEqual(['項目', '金額', '金額_2', '列4', '列5']);
  });
});

describe('build: what stands around a table', () => {
  const out = structure(
    [
      drawGrid(
        `
        *商品別売上
                |        | (単位：円)
        *#商品  | *#数量 | *#金額
        りんご  | 10     | 1,000円
        みかん  | -      | △50円
        合計    | 10     | 950円

        ※ 返品を含む。
      `,
        { sheet: '4月' },
      ),
    ],
    '売上.xlsx',
  );

  it('names the table by the title above it', () => {
    expect(out.names).toEqual(['商品別売上', '商品別売上_計算項目', '4月_補足情報']);
  });

  it('keeps titles, units and notes with their cells', () => {
    expect(out.rows('4月_補足情報')).toEqual([
      { 順序: 1, 種別: 'タイトル', 内容: '商品別売上', セル: 'A1', 対象テーブル: '商品別売上' },
      { 順序: 2, 種別: '単位', 内容: '(単位：円)', セル: 'C2', 対象テーブル: '商品別売上' },
      { 順序: 3, 種別: '注記', 内容: '※ 返品を含む。', セル: 'A8', 対象テーブル: '商品別売上' },
    ]);
  });

  it('reads numbers as written, and marks as nothing', () => {
    expect(out.rows('商品別売上')).toEqual([
      { 商品: 'りんご', 数量: 10, 金額: 1000 },
      { 商品: 'みかん', 数量: null, 金額: -50 },
    ]);
    expect(out.rows('商品別売上_計算項目')).toEqual([{ 商品: '合計', 数量: 10, 金額: 950 }]);
  });
});

describe('build: several tables on a sheet', () => {
  it('stand side by side', () => {
    const out = structure([
      drawGrid(`
        *新卒 |      | | *中途  |      |
        部門  | 人数 | | 職種   | 人数 | 採用
        営業  | 12   | | 設計   | 5    | 1
        開発  | 20   | | 購買   | 6    | 2
              |      | | 経理   | 7    | 3
      `),
    ]);
    expect(out.names).toEqual(['新卒', '中途', 'Sheet1_補足情報']);
    expect(out.rows('中途')).toHaveLength(3);
  });

  it('stand one below the other', () => {
    const out = structure([
      drawGrid(`
        *売上
        *#店舗 | *#金額
        銀座   | 100
        新宿   | 200

        *在庫
        *#品番 | *#数量 | *#倉庫
        'A01   | 5      | 東
        'A02   | 7      | 西
      `),
    ]);
    expect(out.names).toEqual(['売上', '在庫', 'Sheet1_補足情報']);
    expect(out.rows('売上')).toEqual([
      { 店舗: '銀座', 金額: 100 },
      { 店舗: '新宿', 金額: 200 },
    ]);
  });

  it('are one table where only spacer columns part them', () => {
    const out = structure([
      drawGrid(`
        品番   | | 品名   | | 在庫
        'A01   | | ボルト | | 5
        'A02   | | ナット | | 7
      `),
    ]);
    expect(out.names).toEqual(['file']);
    expect(out.columns('file')).toEqual(['品番 VARCHAR', '品名 VARCHAR', '在庫 BIGINT']);
  });
});

describe('build: headers of several rows', () => {
  it('join the merged parent to its children', () => {
    const out = structure([
      drawGrid(
        `
        *#部門 | *#売上 |        | *#利益
               | *#計画 | *#実績 | *#実績
        東     | 10     | 11     | 1
        西     | 20     | 19     | 2
      `,
        { merges: ['A1:A2', 'B1:C1'] },
      ),
    ]);
    expect(out.columns('file')).toEqual(['部門 VARCHAR', '売上_計画 BIGINT', '売上_実績 BIGINT', '利益_実績 BIGINT']);
  });
});

describe('build: periods across columns', () => {
  it('become rows, with the fiscal year above the months', () => {
    const out = structure([
      drawGrid(
        `
        *#部門 | *#2023年度 |      |      | *#年計
               | *#4月      | *#5月 | *#1月 |
        東     | 1          | 2    | 3    | 6
        西     | 4          | 5    | 6    | 15
      `,
        { merges: ['A1:A2', 'B1:D1', 'E1:E2'] },
      ),
    ]);
    expect(out.columns('file')).toEqual(['部門 VARCHAR', '期間 VARCHAR', '期間開始 DATE', '値 BIGINT']);
    expect(out.rows('file').slice(0, 3)).toEqual([
      { 部門: '東', 期間: '2023年度_4月', 期間開始: '2023-04-01', 値: 1 },
      { 部門: '東', 期間: '2023年度_5月', 期間開始: '2023-05-01', 値: 2 },
      { 部門: '東', 期間: '2023年度_1月', 期間開始: '2024-01-01', 値: 3 },
    ]);
    expect(out.rows('file_計算項目')).toEqual([
      { 部門: '東', 期間: '年計', 期間開始: null, 値: 6 },
      { 部門: '西', 期間: '年計', 期間開始: null, 値: 15 },
    ]);
  });

  it.each([
    ['the measure below', '*#店舗|*#2022年度||*#2023年度|\n|*#売上|*#利益|*#売上|*#利益\n銀座|100|10|110|12\n新宿|200|20|210|22'],
    ['the measure above', '*#店舗|*#売上||*#利益|\n|*#2022年度|*#2023年度|*#2022年度|*#2023年度\n銀座|100|110|10|12\n新宿|200|210|20|22'],
  ])('keep measures as columns: %s', (_, picture) => {
    const out = structure([drawGrid(picture, { merges: ['A1:A2', 'B1:C1', 'D1:E1'] })]);
    expect(out.rows('file')[1]).toEqual({ 店舗: '銀座', 期間: '2023年度', 期間開始: '2023-04-01', 売上: 110, 利益: 12 });
  });

  it('take coarser periods among them as computed', () => {
    const out = structure([drawGrid('項目|Q1|Q2|上期|Q3|Q4|下期|通期\n売上|10|20|30|30|40|70|100\n費用|5|6|11|7|8|15|26')]);
    expect(out.rows('file')).toHaveLength(8);
    expect(out.rows('file_計算項目').map((row) => row.期間)).toEqual(['上期', '下期', '通期', '上期', '下期', '通期']);
  });

  it('need two in order; one year, a shuffled order or English codes are plain columns', () => {
    expect(structure([drawGrid('item|2023\na|1\nb|2')]).columns('file')).toEqual(['item VARCHAR', '2023 BIGINT']);
    expect(structure([drawGrid('項目|2021|2023|2022\nあ|1|2|3\nい|2|3|4')]).columns('file')).toHaveLength(4);
    expect(structure([drawGrid('item|R1|R2\na|1|2\nb|2|3')]).columns('file')).toHaveLength(3);
  });
});

describe('build: forms', () => {
  it('become items, and do not let a title reach over them', () => {
    const out = structure([
      drawGrid(
        `
        *出張申請書

        *所属 | 営業課 | *番号 | '004512
        *氏名 | 山田   | *役職 | 主任

        ※ 三日前までに提出。
      `,
        { sheet: '申請書', merges: ['A1:D1'] },
      ),
    ]);
    expect(out.rows('申請書_補足情報').map((row) => [row.種別, row.内容, row.セル])).toEqual([
      ['タイトル', '出張申請書', 'A1:D1'],
      ['項目', '所属: 営業課', 'A3:B3'],
      ['項目', '番号: 004512', 'C3:D3'],
      ['項目', '氏名: 山田', 'A4:B4'],
      ['項目', '役職: 主任', 'C4:D4'],
      ['注記', '※ 三日前までに提出。', 'A6'],
    ]);
  });

  it('stand above the table of an invoice', () => {
    const out = structure([
      drawGrid(
        `
        *請求書
        *請求先: | 青木商店
        *請求日: | @2024-04-30

        *#品名 | *#数量 | *#単価 | *#金額
        りんご | 10     | 100    | 1000
        みかん | 20     | 50     | 1000
               |        | 小計   | 2000
               |        | 消費税 | 200
               |        | 合計   | 2200
      `,
        { sheet: '請求' },
      ),
    ]);
    expect(out.names).toEqual(['請求', '請求_計算項目', '請求_項目_補足情報', '請求_補足情報']);
    expect(out.rows('請求_項目_補足情報').map(({ 項目, 値, 型, セル }) => [項目, 値, 型, セル])).toEqual([
      ['請求先:', '青木商店', 'VARCHAR', 'A2:B2'],
      ['請求日:', '2024-04-30', 'DATE', 'A3:B3'],
    ]);
    expect(out.columns('請求')).toEqual(['品名 VARCHAR', '数量 BIGINT', '単価 BIGINT', '金額 BIGINT']);
    expect(out.rows('請求_計算項目').map((row) => row.単価)).toEqual(['小計', '消費税', '合計']);
  });
});
