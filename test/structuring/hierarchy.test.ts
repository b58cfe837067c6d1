import { describe, expect, it } from 'vitest';
import { expressionOf } from '../../core/structuring/reports/expression.ts';
import { countChildren, readReport } from '../../core/structuring/reports/hierarchy.ts';
import { readTableRows } from '../../core/structuring/reports/tableRows.ts';
import { listTotalColumns } from '../../core/structuring/reports/totalColumns.ts';
import { drawSheet, usedRange } from './picture.ts';

function read(picture: string) {
  const view = drawSheet(picture);
  return readReport(view, readTableRows(view, usedRange(view), 1));
}

/** `売上高 1 parent`: label, level and role of each row. */
const rolesOf = (picture: string) => read(picture).rows.map(({ label, level, role }) => `${label} ${level} ${role}`);

describe('readReport', () => {
  it.each([
    [
      'a parent that its children add up to',
      '売上高|580|600\n>製品|452|481\n>商品|128|119',
      ['売上高 1 parent', '製品 2 detail', '商品 2 detail'],
    ],
    ['a group without figures', '関東|\n>東京|1\n>横浜|2', ['関東 1 group', '東京 2 detail', '横浜 2 detail']],
    [
      'subtotals and totals',
      '東|1|2\n西|3|4\n小計|4|6\n北|5|6\n合計|9|12',
      ['東 1 detail', '西 1 detail', '小計 1 subtotal', '北 1 detail', '合計 1 subtotal'],
    ],
    ['a difference', '売上|1000|1100\n原価|600|650\n売上総利益|400|450', ['売上 1 detail', '原価 1 detail', '売上総利益 1 computed']],
  ])('tells %s', (_, picture, roles) => expect(rolesOf(picture)).toEqual(roles));

  it.each([
    ['levels', '売上高|580|600\n>製品|452|481\n>商品|128|119', true],
    ['a total between rows', '東|1|2\n西|3|4\n小計|4|6\n北|5|6\n南|7|8', true],
    ['a plain table with its total at the end', '東|1|2\n西|3|4\n合計|4|6', false],
    ['a list of texts with a number', 'りんご|1|赤|丸|甘\n>みかん|2|黄|丸|酸', false],
    ['no labels', '1|2\n3|4', false],
  ])('isReport for %s: %s', (_, picture, isReport) => expect(read(picture).isReport).toBe(isReport));

  it('lists total rows without differences, and computed rows with them', () => {
    const { totalRows, computedRows } = read('東|10|20\n西|30|40\n合計|40|60\n費用|5|10\n差引利益|35|50');
    expect([totalRows, computedRows]).toEqual([[3], [3, 5]]);
  });
});

describe('linkTotalColumns', () => {
  /** Labels, a price and the column of totals, which is the last. */
  const totalsOf = (picture: string) => {
    const view = drawSheet(picture);
    const { rows, totalRows } = readReport(view, readTableRows(view, usedRange(view), 1), new Set([usedRange(view).right]));
    return rows.filter(({ row }) => totalRows.includes(row)).map(({ label }) => label);
  };
  const group = (name: string, total: number, items: number[]) =>
    [`|${name}||${total}`, ...items.map((item, k) => `${name}${k}|品${name}${k}|${item * 2}|${item}`)].join('\n');

  it.each([
    ['figures under Total alone, above each group', [group('金物', 0, [0, 0]), group('工具', 0, [0, 0, 0]), group('塗料', 0, [0, 0])], 3],
    ['the same with amounts', [group('金物', 3, [1, 2]), group('工具', 15, [4, 5, 6]), group('塗料', 15, [7, 8])], 3],
    ['no figures that are something else', [group('金物', 9, [1, 2]), group('工具', 9, [4, 5, 6]), group('塗料', 9, [7, 8])], 0],
    ['no charges at the end of a list', [group('金物', 0, [0, 0]), '|送料||0', '|手数料||0'], 0],
  ])('takes for subtotals %s', (_, groups, count) => expect(totalsOf(groups.join('\n'))).toHaveLength(count));

  it('reads the names of columns by their innermost part', () => {
    const columns = [
      { column: 2, parts: ['売上', '合計'] },
      { column: 3, parts: ['合計', '東'] },
      { column: 4, parts: [] },
    ];
    expect([...listTotalColumns(columns)]).toEqual([2]);
  });
});

describe('countChildren', () => {
  it('counts by parent', () => expect(countChildren([{ parent: -1 }, { parent: 0 }, { parent: 0 }, { parent: 1 }])).toEqual([2, 1, 0, 0]));
});

describe('linkComputed and expressionOf', () => {
  /** How each computed row is computed, in the words of its labels. */
  const expressionsOf = (picture: string) => {
    const { rows } = read(picture);
    return Object.fromEntries(rows.filter(({ terms }) => terms.length > 0).map((row) => [row.label, expressionOf(rows, row)]));
  };

  it.each<[string, string, Record<string, string | null>]>([
    ['by formula', '東|1\n西|2\n計|=SUM(B1:B2)~3', { 計: '東 + 西' }],
    ['by formula, whatever the numbers say', '東|1\n西|2\n計|=SUM(B1:B2)~9', { 計: '東 + 西' }],
    ['by formula with a difference', '売上|9|9\n原価|4|4\n残|=B1-B2~5|=C1-C2~5', { 残: '売上 - 原価' }],
    ['by a total word and the numbers', '東|11|12\n西|22|21\n合計|33|33', { 合計: '東 + 西' }],
    ['by a total word alone, which is not certain', '東|11|12\n西|22|21\n合計|50|60', { 合計: null }],
    ['a grand total over subtotals', '東|1|2\n小計|1|2\n西|3|4\n小計|3|4\n総計|4|6', { 小計: '西', 総計: '小計 + 小計' }],
    [
      'a total above its parts',
      '合計|2738|2094\n東|131|29\n西|257|613\n南|389|97\n北|523|411\n中|641|733\n他|797|211',
      { 合計: '東 + 西 + 南 + 北 + 中 + 他' },
    ],
    ['a result with signs', '営業利益|100|140\n収益|20|10\n費用|30|20\n経常利益|90|130', { 経常利益: '営業利益 + 収益 - 費用' }],
    [
      'a parent that nothing marks but its digits',
      '総額の内訳|58012|60034\n製品|45201|48112\n商品|12811|11922',
      { 総額の内訳: '製品 + 商品' },
    ],
    ['no sum by chance of small numbers', 'りんご|3|5\nみかん|1|2\nもも|2|3', {}],
  ])('%s', (_, picture, expected) => expect(expressionsOf(picture)).toEqual(expected));

  it('takes an average below a total, and a tax without a label, for computed', () => {
    const { rows } = read('東|10|20\n西|30|40\n合計|40|60\n平均|20|30\n|4|6');
    expect(rows.map(({ role }) => role)).toEqual(['detail', 'detail', 'subtotal', 'computed', 'computed']);
  });

  it('shortens a sum of many names', () => {
    const many = Array.from({ length: 60 }, (_, n) => `店${n}|${n + 100}|${n + 7}`);
    const sums = [0, 1].map((c) => many.reduce((sum, line) => sum + Number(line.split('|')[c + 1]), 0));
    const expression = expressionsOf([...many, `合計|${sums.join('|')}`].join('\n')).合計;
    expect(expression?.split(' + ')).toHaveLength(51);
    expect(expression).toMatch(/ \+ …$/);
  });
});
