/** A picture of a sheet: its cells as people know them, with the regions that were found, in colour. */

import { nameColumn, parseColumn, parseRange } from '../../a1/address.ts';
import type { Range } from '../../grid/grid.ts';
import { isTableRegion, type SpecRegion } from '../spec/spec.ts';
import { CLOSE_CONFIDENCE } from '../thresholds.ts';

/** A block of a sheet as a preview shows it. */
export interface ShownBlock {
  /** First row and column. */
  top: number;
  left: number;
  values: (string | number | boolean | null)[][];
  /** In characters and points. */
  widths: number[];
  heights: number[];
  merges: Range[];
  styles: { align: 'left' | 'center' | 'right'; bold: boolean; italic: boolean }[];
  styleIds: (number | null)[][];
}

type Part = 'header' | 'total' | 'data' | 'form' | 'title' | 'note';

const colors: Record<Part, string> = {
  header: '#cfe2ff',
  total: '#ffe8b3',
  data: '#ffffff',
  form: '#d8f3dc',
  title: '#e9d8fd',
  note: '#ececec',
};
const [sure, doubtful] = ['#1d6f42', '#c92a2a'];

/** Pixels of one character and one point, of the places for row numbers and letters, and of the legend. */
const CHARACTER = 7;
const POINT = 4 / 3;
const EDGE = { left: 44, top: 18, legend: 24 };
const FONT = 11;
/** Nobody reads a picture of wider columns or higher rows. */
const MAX_WIDTH = 320;
const MAX_HEIGHT = 120;

export function drawSheet(block: ShownBlock, regions: SpecRegion[]): string {
  const { widths, heights } = measure(block);
  const lefts = addUp(widths, EDGE.left);
  const tops = addUp(heights, EDGE.legend + EDGE.top);
  const [width, height] = [lefts.at(-1)! + 1, tops.at(-1)! + 1];
  const place = (range: Range): Box | null => placeRange(block, range, lefts, tops);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="BIZ UDPGothic, sans-serif" font-size="${FONT}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...drawLegend(),
    ...regions.flatMap((region) => drawRegion(region, place)),
    ...drawLines(block, lefts, tops),
    ...drawCells(block, lefts, tops),
    ...regions.flatMap((region) => drawOutline(region, place)),
    '</svg>',
  ];
  return parts.join('\n');
}

/** Rows and columns at the end that hold nothing are left out. */
function measure({ values, widths, heights }: ShownBlock): { widths: number[]; heights: number[] } {
  const used = values.reduce((most, row) => Math.max(most, row.findLastIndex((value) => value !== null) + 1), 1);
  return {
    widths: widths.slice(0, used).map((width) => Math.min(MAX_WIDTH, Math.round(width * CHARACTER + (width > 0 ? 5 : 0)))),
    heights: heights.slice(0, values.length).map((height) => Math.min(MAX_HEIGHT, Math.round(height * POINT))),
  };
}

function addUp(sizes: number[], from: number): number[] {
  const ends = [from];
  for (const size of sizes) ends.push(ends.at(-1)! + size);
  return ends;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Null for what is not in the picture. */
function placeRange({ top, left }: ShownBlock, range: Range, lefts: number[], tops: number[]): Box | null {
  const at = (ends: number[], position: number) => ends[Math.max(0, Math.min(ends.length - 1, position))]!;
  const [x, y] = [at(lefts, range.left - left), at(tops, range.top - top)];
  const [width, height] = [at(lefts, range.right - left + 1) - x, at(tops, range.bottom - top + 1) - y];
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

function drawRegion(region: SpecRegion, place: (range: Range) => Box | null): string[] {
  const range = parseRange(region.range)!;
  if (!isTableRegion(region)) return fill(place(range), colors[region.kind as Part]);
  const rows = (row: number): Range => ({ ...range, top: row, bottom: row });
  const totals = (region.totals ?? []).map(({ at }): Range => {
    if (typeof at === 'number') return rows(at);
    return { ...range, left: parseColumn(at), right: parseColumn(at) };
  });
  return [
    ...totals.map((total): [Range, Part] => [total, 'total']),
    ...region.header_rows.map((row): [Range, Part] => [rows(row), 'header']),
  ].flatMap(([part, kind]) => fill(place(part), colors[kind]));
}

function fill(box: Box | null, color: string): string[] {
  return box ? [`<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" fill="${color}"/>`] : [];
}

/** Around tables and forms; in red, with the figure, where the reading is not sure. */
function drawOutline({ kind, range, confidence }: SpecRegion, place: (range: Range) => Box | null): string[] {
  const box = place(parseRange(range)!);
  if (!box || kind === 'title' || kind === 'note') return [];
  const isSure = confidence === undefined || confidence >= CLOSE_CONFIDENCE;
  const color = isSure ? sure : doubtful;
  const frame = `<rect x="${box.x + 1}" y="${box.y + 1}" width="${box.width - 2}" height="${box.height - 2}" fill="none" stroke="${color}" stroke-width="2"${isSure ? '' : ' stroke-dasharray="6 3"'}/>`;
  if (isSure) return [frame];
  const x = box.x + box.width - 34;
  return [
    frame,
    `<rect x="${x}" y="${box.y}" width="34" height="15" fill="${color}"/>`,
    `<text x="${x + 17}" y="${box.y + 11}" fill="#fff" text-anchor="middle">${Math.round((confidence ?? 0) * 100)} %</text>`,
  ];
}

function drawLegend(): string[] {
  const entries: [string, string][] = [
    ['header', colors.header],
    ['computed', colors.total],
    ['form', colors.form],
    ['title', colors.title],
    ['note', colors.note],
  ];
  const boxes = entries.map(
    ([name, color], k) =>
      `<rect x="${6 + k * 84}" y="6" width="12" height="12" fill="${color}" stroke="#999"/><text x="${22 + k * 84}" y="16">${name}</text>`,
  );
  const x = 6 + entries.length * 84;
  return [
    ...boxes,
    `<rect x="${x}" y="6" width="12" height="12" fill="none" stroke="${doubtful}" stroke-width="2" stroke-dasharray="4 2"/><text x="${x + 16}" y="16">doubtful</text>`,
  ];
}

/** Letters, numbers and the lines between cells. */
function drawLines({ top, left }: ShownBlock, lefts: number[], tops: number[]): string[] {
  const [right, bottom] = [lefts.at(-1)!, tops.at(-1)!];
  const lines = [...lefts.map((x) => `M${x} ${EDGE.legend}V${bottom}`), ...tops.map((y) => `M0 ${y}H${right}`)].join('');
  const letters = lefts.slice(0, -1).map((x, k) => {
    const middle = (x + lefts[k + 1]!) / 2;
    return lefts[k + 1] === x
      ? ''
      : `<text x="${middle}" y="${EDGE.legend + 13}" fill="#666" text-anchor="middle">${nameColumn(left + k)}</text>`;
  });
  const numbers = tops
    .slice(0, -1)
    .map((y, k) =>
      tops[k + 1] === y
        ? ''
        : `<text x="${EDGE.left - 4}" y="${(y + tops[k + 1]!) / 2 + 4}" fill="#666" text-anchor="end">${top + k}</text>`,
    );
  return [`<path d="${lines}" stroke="#d0d0d0" stroke-width="0.5" fill="none"/>`, ...letters, ...numbers].filter((text) => text !== '');
}

function drawCells(block: ShownBlock, lefts: number[], tops: number[]): string[] {
  const merges = new Map(block.merges.map((merge) => [`${merge.top} ${merge.left}`, merge]));
  const texts: string[] = [];
  block.values.forEach((row, r) => {
    row.forEach((value, c) => {
      if (value === null || c >= lefts.length - 1) return;
      const cell = { top: block.top + r, left: block.left + c, bottom: block.top + r, right: block.left + c };
      const box = placeRange(block, merges.get(`${cell.top} ${cell.left}`) ?? cell, lefts, tops);
      if (!box) return;
      const style = block.styles[block.styleIds[r]?.[c] ?? -1];
      // Texts reach over blank cells at their right, as in a sheet.
      const room = style?.align === 'left' ? roomFor(row, c, lefts, box) : box.width;
      texts.push(writeText(String(value), box, room, style));
    });
  });
  return texts;
}

function roomFor(row: ShownBlock['values'][number], c: number, lefts: number[], box: Box): number {
  let end = c + 1;
  while (end < lefts.length - 1 && (row[end] ?? null) === null) end += 1;
  return Math.max(box.width, lefts[end]! - box.x);
}

function writeText(value: string, box: Box, room: number, style: ShownBlock['styles'][number] | undefined): string {
  const text = shorten(value.split('\n', 1)[0]!, room - 6);
  const align = style?.align ?? 'left';
  const x = align === 'left' ? box.x + 3 : align === 'right' ? box.x + box.width - 3 : box.x + box.width / 2;
  const anchor = align === 'left' ? '' : ` text-anchor="${align === 'right' ? 'end' : 'middle'}"`;
  const look = `${style?.bold ? ' font-weight="bold"' : ''}${style?.italic ? ' font-style="italic"' : ''}`;
  return `<text x="${x}" y="${box.y + box.height / 2 + FONT / 3}"${anchor}${look}>${escapeXml(text)}</text>`;
}

/** Letters are about half as wide as they are high, Japanese ones as wide as they are high. */
function shorten(text: string, room: number): string {
  let width = 0;
  let kept = '';
  for (const letter of text) {
    width += letter.codePointAt(0)! > 0x2e7f ? FONT : FONT * 0.56;
    if (width > room) return `${kept}…`;
    kept += letter;
  }
  return kept;
}

/** Control characters are not allowed in XML at all. */
function escapeXml(text: string): string {
  const allowed = [...text]
    .filter((letter) => letter >= ' ' && !/[\ud800-\udfff\ufffe\uffff]/.test(letter.length === 1 ? letter : ''))
    .join('');
  return allowed.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
