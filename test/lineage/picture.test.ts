import { describe, expect, it } from 'vitest';
import { drawLineage } from '../../api/presenters/lineagePicture.ts';
import { arrangeInLayers } from '../../core/lineage/layers.ts';
import { findNearest } from '../../core/lineage/nearest.ts';
import type { components } from '../../schema/contract.ts';

type Graph = components['schemas']['TableLineage'];

const sales: Graph = {
  name: '月次売上',
  nodes: [
    { id: 'n1', kind: 'source', name: '売上.xlsx' },
    { id: 'n2', kind: 'region', name: 'A1:D120', sheet: '売上', range: 'A1:D120' },
    { id: 'n3', kind: 'table', name: '売上明細', state: 'active', edit_version: 42 },
    { id: 'n4', kind: 'transform', name: '月次集計' },
    { id: 'n5', kind: 'table', name: '月次売上', state: 'active', edit_version: 3, stale: true },
    { id: 'n6', kind: 'table', name: '売上_原本', state: 'archived', edit_version: 1 },
  ],
  edges: [
    { from: 'n1', to: 'n2' },
    { from: 'n1', to: 'n6' },
    { from: 'n6', to: 'n3' },
    { from: 'n2', to: 'n3' },
    {
      from: 'n3',
      to: 'n4',
      columns: [
        { column: '金額', to: ['合計'], decides_rows: false },
        { column: '月', to: [], decides_rows: true },
      ],
    },
    { from: 'n4', to: 'n5' },
  ],
};

/** What is not well-formed in XML that has no comments, sections or instructions. */
function findFault(xml: string): string | null {
  const open: string[] = [];
  for (const [, text = '', closed, tag = '', rest = ''] of xml.matchAll(
    /([^<]*)(?:<(\/?)([\w-]+)((?:\s+[\w:-]+="[^"<]*")*\s*\/?)>|$|(?=<))/g,
  )) {
    if (/&(?!(?:#\d+|amp|lt|gt|quot);)/.test(text + rest)) return `not escaped: ${text}${rest}`;
    if (tag === '' && text !== '' && text.trim() !== '') return `outside: ${text}`;
    if (closed && open.pop() !== tag) return `closed: ${tag}`;
    if (tag !== '' && !closed && !rest.endsWith('/')) open.push(tag);
  }
  return open.length > 0 ? `open: ${open}` : null;
}

describe('the picture of a graph', () => {
  const picture = drawLineage('n5', sales);

  it('is SVG with a box for each node and an arrow for each edge', () => {
    expect(findFault(picture)).toBeNull();
    expect(picture.match(/<rect [^>]*rx=/g)).toHaveLength(sales.nodes.length);
    expect(picture.match(/marker-end=/g)).toHaveLength(sales.edges.length);
    for (const text of ['売上.xlsx', '売上 A1:D120', '売上明細', '月次集計', '月次売上', 'table, archived'])
      expect(picture).toContain(`>${text}<`);
  });

  it('marks what is stale, and nothing else', () => {
    expect(picture.match(/>stale</g)).toHaveLength(1);
    expect(picture).toContain('月次売上, version 3, stale');
    const fresh = { ...sales, nodes: sales.nodes.map((node) => ({ ...node, stale: false })) };
    expect(drawLineage('n5', fresh)).not.toMatch(/stale|dasharray/);
  });

  it('tells by which columns an arrow leads', () => {
    expect(picture).toContain('<title>金額 → 合計\n月 → rows</title>');
  });

  it('escapes names, and takes any', () => {
    const odd = `<script>alert("1")</script> & ' ]]> \u0001\ud800 \uffff`;
    const drawn = drawLineage('a', {
      name: odd,
      nodes: [
        { id: 'a', kind: 'table', name: odd, state: 'active' },
        { id: 'b', kind: 'region', name: odd, sheet: odd, range: 'A1' },
        { id: 'c', kind: 'table', name: '長'.repeat(300) },
      ],
      edges: [
        { from: 'b', to: 'a', columns: [{ column: odd, to: [odd], decides_rows: false }] },
        { from: 'a', to: 'c' },
      ],
    });
    expect(findFault(drawn)).toBeNull();
    expect(drawn).not.toMatch(/<script|<style|href|onload|\uffff/);
    expect(drawn).not.toContain('\u0001');
    expect(drawn.isWellFormed()).toBe(true);
    expect(drawn).toContain(`>${'長'.repeat(12)}…<`);
  });

  it('draws the nearest of a large graph and says that there are more', () => {
    const ids = Array.from({ length: 3000 }, (_, i) => `n${i}`);
    const nodes = ids.map((id) => ({ id, kind: 'table' as const, name: id }));
    // Dense: a layout whose time grows faster than the graph would not end here.
    const edges = ids.flatMap((id, i) =>
      [1, 2, 3, 50].filter((step) => i + step < ids.length).map((step) => ({ from: id, to: `n${i + step}` })),
    );
    const drawn = drawLineage('n1500', { name: 'n1500', nodes, edges });
    expect(drawn.match(/<rect [^>]*rx=/g)).toHaveLength(120);
    expect(drawn).toContain('>2880 more are not drawn<');
    expect(drawn).toContain('>n1500<');
  });

  it('draws a table that is alone', () => {
    expect(drawLineage('a', { name: 'a', nodes: [{ id: 'a', kind: 'table', name: 'a' }], edges: [] })).toContain('>a<');
  });
});

describe('layers', () => {
  const pairs = (text: string) => text.split(' ').map((pair) => ({ input: pair[0] as string, output: pair[1] as string }));

  it('put each behind what it is made from, near its neighbours', () => {
    const arrange = (names: string, dependencies: string) =>
      arrangeInLayers([...names], pairs(dependencies)).map((layer) =>
        layer.map((item) => ('name' in item ? item.name : `${item.arrow.input}>${item.arrow.output}`)).join(' '),
      );
    expect(arrange('abcdef', 'af be cd')).toEqual(['a b c', 'f e d']);
    expect(arrange('abc', 'ab bc ac')).toEqual(['a', 'b a>c', 'c']);
    expect(arrange('ab', 'ab ba')).toEqual(['a b']);
  });

  it('begin with the nearest', () => {
    expect([...findNearest('c', pairs('ab bc cd de'), 3)].sort()).toEqual(['b', 'c', 'd']);
    expect([...findNearest('a', pairs('ab'), 10)].sort()).toEqual(['a', 'b']);
  });
});
