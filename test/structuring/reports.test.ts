import { describe, expect, it } from 'vitest';
import { analyze, listCells } from '../../core/structuring/index.ts';
import { drawGrid } from './picture.ts';
import { structure } from './structure.ts';

const accounts = (rows: Record<string, unknown>[]) => rows.map((row) => [row.科目, row.階層, row.種別, row.計算式]);

describe('build: statements', () => {
  it('are split by level, with differences apart and a tree of accounts', () => {
    const grid = drawGrid(
      `
      *損益計算書
                  |                    | (単位：千円)
      *#科目      | *#2022年度         | *#2023年度
      *売上高     | =SUM(B5:B6)~580    | =SUM(C5:C6)~600
      >製品売上   | 452                | 481
      >商品売上   | 128                | 119
      *売上原価   | 399                | 413
      *売上総利益 | =B4-B7~181         | =C4-C7~187
      ※監査前
    `,
      { sheet: 'PL' },
    );
    const out = structure([grid]);
    expect(out.names).toEqual(['損益計算書_階層1', '損益計算書_階層1_計算項目', '損益計算書_階層2', '損益計算書_科目', 'PL_補足情報']);
    expect(out.rows('損益計算書_階層2')[0]).toEqual({
      科目_階層1: '売上高',
      科目: '製品売上',
      期間: '2022年度',
      期間開始: '2022-04-01',
      値: 452,
    });
    expect(out.rows('損益計算書_階層1').map((row) => row.科目)).toEqual(['売上高', '売上高', '売上原価', '売上原価']);
    expect(accounts(out.rows('損益計算書_科目'))).toEqual([
      ['売上高', 1, '小計', '製品売上 + 商品売上'],
      ['製品売上', 2, '明細', null],
      ['商品売上', 2, '明細', null],
      ['売上原価', 1, '明細', null],
      ['売上総利益', 1, '計算', '売上高 - 売上原価'],
    ]);
    const level2 = out.table('損益計算書_階層2');
    expect(listCells(grid, level2, 0)).toEqual(['B3', 'A4', 'A5:B5']);
  });

  it.each([
    ['a sum over time', '累計 | 310 | 330', 'computed'],
    ['a sum over time that happens to add up', '累計 | 30 | 50', 'total'],
    ['a total that does not add up', '合計 | 310 | 330', 'total'],
  ])('list %s as what it is', (_, last, kind) => {
    const { regions } = analyze([drawGrid(`品目 | 4月 | 5月\n本 | 10 | 20\n紙 | 20 | 30\n${last}`)], 'file.xlsx');
    expect(regions.flatMap(({ totals = [] }) => totals.filter(({ at }) => at === 4))).toMatchObject([{ kind }]);
  });

  it('are understood from the numbers alone, signs included', () => {
    const out = structure([
      drawGrid(`
        *損益計算書
        科目       | 第45期 | 第46期
        Ⅰ 売上高   | 1000   | 1100
        Ⅱ 売上原価 | 600    | 650
        売上総利益 | 400    | 450
        Ⅲ 販管費   | 300    | 310
        営業利益   | 100    | 140
        Ⅳ 営業外収益 | 20   | 10
        Ⅴ 営業外費用 | 30   | 20
        経常利益   | 90     | 130
      `),
    ]);
    const formulas = Object.fromEntries(out.rows('損益計算書_科目').map((row) => [row.科目, row.計算式]));
    expect(formulas).toMatchObject({
      売上総利益: 'Ⅰ 売上高 - Ⅱ 売上原価',
      営業利益: '売上総利益 - Ⅲ 販管費',
      経常利益: '営業利益 + Ⅳ 営業外収益 - Ⅴ 営業外費用',
    });
  });

  it('take their levels from numbering where nothing is indented', () => {
    const out = structure([
      drawGrid(
        '費目|2022年度|2023年度\n1. 人件費|300|330\n(1) 給与|200|220\n(2) 賞与|100|110\n2. 経費|150|160\n(1) 旅費|50|60\n(2) 地代|100|100\n合計|450|490',
      ),
    ]);
    expect(out.rows('file_階層2').map((row) => row.科目_階層1)).toEqual([
      '1. 人件費',
      '1. 人件費',
      '1. 人件費',
      '1. 人件費',
      '2. 経費',
      '2. 経費',
      '2. 経費',
      '2. 経費',
    ]);
    expect(out.rows('file_階層1_計算項目')).toHaveLength(2);
  });
});

describe('build: subtotals', () => {
  it.each([
    [
      'indented',
      '店舗|当期|前期\n*関東||\n>東京|100|90\n>横浜|50|60\n>小計|150|150\n*関西||\n>大阪|70|80\n>神戸|30|20\n>小計|100|100\n*合計|250|250',
    ],
    [
      'not indented',
      '店舗|当期|前期\n関東||\n東京|100|90\n横浜|50|60\n小計|150|150\n関西||\n大阪|70|80\n神戸|30|20\n小計|100|100\n合計|250|250',
    ],
  ])('are computed on the level of what they sum: %s', (_, picture) => {
    const out = structure([drawGrid(picture)]);
    expect(out.names).toEqual(['file_階層1_計算項目', 'file_階層2', 'file_階層2_計算項目', 'file_科目']);
    expect(out.rows('file_階層2_計算項目')).toEqual([
      { 科目_階層1: '関東', 科目: '小計', 当期: 150, 前期: 150 },
      { 科目_階層1: '関西', 科目: '小計', 当期: 100, 前期: 100 },
    ]);
    expect(out.rows('file_階層1_計算項目')).toEqual([{ 科目: '合計', 当期: 250, 前期: 250 }]);
    expect(out.rows('file_科目')).toHaveLength(9);
  });

  it('stand in label columns side by side', () => {
    const out = structure([
      drawGrid(
        '部門|費目|4月|5月\n営業|人件費|100|110\n|旅費|10|12\n|小計|110|122\n開発|人件費|200|210\n|外注費|50|55\n|小計|250|265\n合計||360|387',
      ),
    ]);
    expect(out.rows('file_階層2')[2]).toMatchObject({ 科目_階層1: '営業', 科目: '旅費', 期間: '4月', 値: 10 });
    expect(out.rows('file_階層1_計算項目').map((row) => row.値)).toEqual([360, 387]);
  });
});

describe('findWrongTotals: totals that do not add up', () => {
  it('are a finding with both numbers, once per wrong cell', () => {
    const out = structure([drawGrid('氏名|交通費|宿泊費\n相川|100|50\n井上|200|60\n宇田|300|70\n合計|650|180')]);
    expect(out.result.findings).toEqual([expect.objectContaining({ kind: 'total_mismatch', cell: 'B5', stated: 650, computed: 600 })]);
  });

  it('are not looked for among rates, averages and rounded figures', () => {
    expect(structure([drawGrid('店舗|売上|達成率\n銀座|100|1.1\n新宿|200|0.9\n合計|300|0.97')]).result.findings).toEqual([]);
    expect(structure([drawGrid('店舗|売上|客単価\n銀座|100|10\n新宿|200|12\n合計|300|11')]).result.findings).toEqual([]);
    expect(structure([drawGrid('店舗|売上|利益\n銀座|100|33\n新宿|200|33\n池袋|50|33\n合計|350|100')]).result.findings).toEqual([]);
  });
});
