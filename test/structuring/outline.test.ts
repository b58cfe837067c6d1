import { describe, expect, it } from 'vitest';
import { linkParents, type OutlineNode, pickLabelColumns, readList, readOutline } from '../../core/structuring/reports/outline.ts';
import { readTableRows } from '../../core/structuring/reports/tableRows.ts';
import { drawSheet, usedRange } from './picture.ts';

function read(picture: string) {
  const view = drawSheet(picture);
  return { view, table: readTableRows(view, usedRange(view), 1) };
}

/** Each node under its parents: `売上高/製品売上`. */
function pathsOf(nodes: OutlineNode[]): string[] {
  const path = (node: OutlineNode): string => {
    const parent = nodes[node.parent];
    return parent ? `${path(parent)}/${node.label}` : node.label;
  };
  return nodes.map(path);
}

const outlineOf = (picture: string) => {
  const { view, table } = read(picture);
  return pathsOf(readOutline(view, table));
};

describe('readOutline', () => {
  it.each([
    ['indents', '売上高|3\n>製品|1\n>商品|2\n原価|1', ['売上高', '売上高/製品', '売上高/商品', '原価']],
    ['indents of several levels', '資産|6\n>流動|3\n>>現金|3\n>固定|3', ['資産', '資産/流動', '資産/流動/現金', '資産/固定']],
    ['a label alone on its row', '関東|\n東京|1\n横浜|2\n関西|\n大阪|3', ['関東', '関東/東京', '関東/横浜', '関西', '関西/大阪']],
    ['numbering', '1. 人件費|3\n(1) 給与|1\n(2) 賞与|2\n2. 経費|4', ['1. 人件費', '1. 人件費/(1) 給与', '1. 人件費/(2) 賞与', '2. 経費']],
    ['labels side by side', '営業|人件費|1\n|旅費|2\n開発|外注費|3', ['営業', '営業/人件費', '営業/旅費', '開発', '開発/外注費']],
    [
      'a group written again on every row',
      '関東|東京|1\n関東|横浜|2\n関西|大阪|3',
      ['関東', '関東/東京', '関東/横浜', '関西', '関西/大阪'],
    ],
    ['totals that nothing stands under', '合計|3\n>東|1\n>西|2', ['合計', '東', '西']],
  ])('reads %s', (_, picture, paths) => expect(outlineOf(picture)).toEqual(paths));

  it('knows totals, wholes and ratios by their words', () => {
    const { view, table } = read('全国|3\n合計|3\n平均|1\n東|1');
    expect(readOutline(view, table).map(({ whole, total, ratio }) => [whole, total, ratio])).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
      [false, false, false],
    ]);
  });
});

describe('pickLabelColumns', () => {
  it.each([
    ['the only one', 'a|1\nb|2', [1]],
    ['levels to the left of the main one', '東|りんご|1\n東|みかん|2\n西|もも|3\n西|なし|4', [1, 2]],
    ['columns to the right only where they take turns', '売上||1\n|製品|2\n|商品|3\n費用||4', [1, 2]],
    ['no attribute to the right', 'りんご|赤|1\nみかん|黄|2\nもも|白|3\nなし|黄|4', [1]],
  ])('takes %s', (_, picture, expected) => {
    const { view, table } = read(picture);
    expect(pickLabelColumns(view, table)).toEqual(expected);
  });
});

describe('readList', () => {
  it('gives one node a row, labelled by its total word where it has one', () => {
    const { view, table } = read('東|りんご|1\n東|合計|2\n|小計|3');
    expect(readList(view, table).map(({ label, total, parent, hasValues }) => [label, total, parent, hasValues])).toEqual([
      ['東', false, -1, true],
      ['合計', true, -1, true],
      ['小計', true, -1, true],
    ]);
  });
});

describe('linkParents', () => {
  const node = (label: string, offset: number, more: Partial<OutlineNode> = {}): OutlineNode => ({
    at: 0,
    row: 1,
    label,
    labelCell: 0,
    virtual: false,
    hasValues: true,
    alone: false,
    offset,
    bold: false,
    total: false,
    whole: false,
    ratio: false,
    parent: -1,
    ...more,
  });
  const linked = (...nodes: OutlineNode[]) => {
    linkParents(nodes);
    return nodes.map(({ parent }) => parent);
  };

  it.each([
    ['by offset', [node('a', 0), node('b', 2), node('c', 4), node('d', 2), node('e', 0)], [-1, 0, 1, 0, -1]],
    ['a row without a label stays beside the one before', [node('a', 0), node('b', 2), node('', 0)], [-1, 0, 0]],
    [
      'a group takes the rows at its own offset until the next group',
      [
        node('g', 0, { alone: true, hasValues: false }),
        node('a', 0),
        node('b', 0),
        node('h', 0, { alone: true, hasValues: false }),
        node('c', 0),
      ],
      [-1, 0, 0, -1, 3],
    ],
    ['nothing under a total', [node('t', 0, { total: true }), node('a', 2)], [-1, -1]],
  ])('%s', (_, nodes, parents) => expect(linked(...nodes)).toEqual(parents));
});
