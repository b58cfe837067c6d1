import { arrangeInLayers, type InLayer } from '../../core/lineage/layers.ts';
import { findNearest } from '../../core/lineage/nearest.ts';
import type { Dependency } from '../../core/lineage/order.ts';
import type { components } from '../../schema/contract.ts';
import { type Html, html } from '../pages/html.ts';

type Graph = components['schemas']['TableLineage'];
type GraphNode = Graph['nodes'][number];
type GraphEdge = Graph['edges'][number];

const mostBoxes = 120;
const box = { width: 216, height: 56, gapX: 64, gapY: 18, margin: 20 };
/** Where an arrow passes between boxes. */
const passage = 10;
const note = 24;
/** Wide enough for most names; a wide character counts as two. */
const mostUnits = 25;
const mostColumns = 30;

const fonts = "system-ui, 'Noto Sans', 'Noto Sans CJK JP', 'Hiragino Sans', 'Yu Gothic', Meiryo, sans-serif";
const ink = '#1f2933';
const staleInk = '#b45309';
const fills: Record<GraphNode['kind'], string> = {
  source: '#e8eef5',
  region: '#f3f5f8',
  table: '#e3f3ea',
  view: '#eef7e3',
  transform: '#fdf3dc',
  sheet: '#f1e9f8',
  chart: '#f1e9f8',
  report: '#f1e9f8',
};

interface Point {
  x: number;
  y: number;
}

/** Boxes by node id, and the points between that arrows lead through. */
interface Places {
  boxes: Map<string, Point>;
  passages: Map<Dependency, Point[]>;
  width: number;
  height: number;
}

/**
 * The graph as SVG, from left to right. It holds text and shapes only, nothing that runs or is fetched, and is styled by
 * attributes, because the policy of our answers allows no style sheets.
 */
export function drawLineage(tableId: string, { name, nodes, edges }: Graph): string {
  const near = findNearest(tableId, edges.map(asDependency), mostBoxes);
  const shown = nodes.filter(({ id }) => near.has(id));
  const arrows = edges.filter(({ from, to }) => near.has(from) && near.has(to)).map((edge) => ({ edge, way: asDependency(edge) }));
  const layers = arrangeInLayers(
    shown.map(({ id }) => id),
    arrows.map(({ way }) => way),
  );
  const places = place(layers);
  const isStale = new Set(shown.filter(({ stale }) => stale).map(({ id }) => id));
  const left = nodes.length - shown.length;
  const [width, height] = [places.width, places.height + (left > 0 ? note : 0)];
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${fonts}" font-size="13">
<title>${clean(name)}</title>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8Z" fill="#66788a"/></marker></defs>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${arrows.map(({ edge, way }) => drawArrow(edge, listPoints(way, places), isStale.has(edge.to)))}${shown.map((node) => drawBox(node, places.boxes.get(node.id) as Point, node.id === tableId))}${
  left > 0 ? html`<text x="${box.margin}" y="${height - 10}" fill="#66788a">${left} more are not drawn</text>` : []
}</svg>
`;
  return picture.text;
}

const asDependency = ({ from, to }: GraphEdge): Dependency => ({ input: from, output: to });

const heightOf = (item: InLayer) => ('name' in item ? box.height : passage) + box.gapY;

function place(layers: InLayer[][]): Places {
  const heights = layers.map((layer) => layer.reduce((sum, item) => sum + heightOf(item), -box.gapY));
  const tallest = Math.max(box.height, ...heights);
  const [boxes, passages] = [new Map<string, Point>(), new Map<Dependency, Point[]>()];
  for (const [column, layer] of layers.entries()) {
    const x = box.margin + column * (box.width + box.gapX);
    let y = box.margin + (tallest - (heights[column] ?? 0)) / 2;
    for (const item of layer) {
      if ('name' in item) boxes.set(item.name, { x, y });
      else passages.set(item.arrow, [...(passages.get(item.arrow) ?? []), { x, y: y + passage / 2 }]);
      y += heightOf(item);
    }
  }
  const width = 2 * box.margin + layers.length * (box.width + box.gapX) - box.gapX;
  return { boxes, passages, width, height: 2 * box.margin + tallest };
}

/** From the right of a box, along the boxes of the layers between, to the left of another. */
function listPoints(way: Dependency, { boxes, passages }: Places): Point[] {
  const [from, to] = [boxes.get(way.input) as Point, boxes.get(way.output) as Point];
  const middle = box.height / 2;
  const between = (passages.get(way) ?? []).flatMap(({ x, y }) => [
    { x, y },
    { x: x + box.width, y },
  ]);
  return [{ x: from.x + box.width, y: from.y + middle }, ...between, { x: to.x - 2, y: to.y + middle }];
}

function drawBox(node: GraphNode, { x, y }: Point, isAsked: boolean): Html {
  const stroke = node.stale ? staleInk : isAsked ? ink : '#9aa8b6';
  return html`<g>
<title>${clean(describe(node))}</title>
<rect x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="6" fill="${fills[node.kind]}" stroke="${stroke}" stroke-width="${isAsked ? 2 : 1}"${node.stale ? html` stroke-dasharray="5 3"` : []}/>
<text x="${x + 12}" y="${y + 18}" font-size="11" fill="#66788a">${node.kind}${node.state === 'archived' ? ', archived' : ''}</text>
${node.stale ? html`<text x="${x + box.width - 12}" y="${y + 18}" font-size="11" font-weight="bold" text-anchor="end" fill="${staleInk}">stale</text>` : []}
<text x="${x + 12}" y="${y + 40}" font-weight="bold" fill="${ink}">${shorten(clean(label(node)))}</text>
</g>
`;
}

const label = ({ name, sheet, range }: GraphNode) => (range && sheet ? `${sheet} ${range}` : name);

function describe(node: GraphNode): string {
  const version = node.edit_version === undefined ? '' : `, version ${node.edit_version}`;
  return `${node.kind} ${label(node)}${version}${node.stale ? ', stale' : ''}`;
}

/** Curves between the layers, straight lines along a box. */
function drawArrow(edge: GraphEdge, [first, ...others]: Point[], isStale: boolean): Html {
  let path = `M${first?.x} ${first?.y}`;
  let last = first as Point;
  for (const [i, next] of others.entries()) {
    const bend = (next.x - last.x) / 2;
    path += i % 2 === 0 ? `C${last.x + bend} ${last.y} ${next.x - bend} ${next.y} ${next.x} ${next.y}` : `H${next.x}`;
    last = next;
  }
  return html`<path d="${path}" fill="none" stroke="${isStale ? staleInk : '#66788a'}"${isStale ? html` stroke-dasharray="5 3"` : []} marker-end="url(#arrow)">${titleOf(edge)}</path>
`;
}

function titleOf({ columns }: GraphEdge): Html {
  if (!columns || columns.length === 0) return html``;
  const lines = columns.map(({ column, to, decides_rows: decides }) => `${column} → ${decides ? 'rows' : to.join(', ')}`);
  const rest = lines.length > mostColumns ? [`and ${lines.length - mostColumns} more`] : [];
  return html`<title>${clean([...lines.slice(0, mostColumns).map((line) => line.slice(0, 200)), ...rest].join('\n'))}</title>`;
}

/** XML takes no other control characters and no halves of characters, not even written as numbers. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
const clean = (text: string) => text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

function shorten(text: string): string {
  let units = 0;
  let kept = '';
  for (const character of text) {
    units += wide.test(character) ? 2 : 1;
    if (units > mostUnits) return `${kept}…`;
    kept += character;
  }
  return text;
}
