/** What a reading of some tables leaves over on a sheet, so that every cell still has its place. */

import { formatRange, parseColumn, parseRange } from '../../a1/address.ts';
import type { Range } from '../../grid/grid.ts';
import { readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { isTableRegion, type SpecRegion } from '../spec/spec.ts';

/** The last row of data from `top` on: it ends before a gap that is wider than any inside it was, and where `isEnd` says so. */
export function findBottom(view: SheetView, area: Range, gap: number, isEnd: (cell: number) => boolean): number {
  let bottom = area.top - 1;
  for (const line of readLines(view, area)) {
    if (line.row - bottom - 1 > (bottom < area.top ? 0 : gap) || isEnd(line.from)) break;
    bottom = line.row;
  }
  return bottom;
}

/** Adds titles and notes for the cells that no region holds: as they were proposed, or line by line. */
export function coverRest(view: SheetView, own: SpecRegion[], proposed: SpecRegion[]): SpecRegion[] {
  const isFree = (region: SpecRegion) => !own.some((other) => overlaps(parseRange(other.range)!, parseRange(region.range)!));
  const texts = proposed.filter((region) => !isTableRegion(region) && isFree(region));
  const top = Math.min(...own.filter(isTableRegion).map(({ range }) => parseRange(range)!.top));
  const regions = [...own, ...texts];
  const isHeld = regions.map(holder);
  const runs: Range[] = [];
  for (let i = 0; i < view.grid.size; i += 1) {
    const [row, column] = [view.grid.rows[i]!, view.grid.columns[i]!];
    if (isHeld.some((holds) => holds(row, column))) continue;
    const last = runs.at(-1);
    if (last && last.top === row && last.right === column - 1) last.right = column;
    else runs.push({ top: row, left: column, bottom: row, right: column });
  }
  const rest = runs.map((run) => makeText(view, run, run.top < top));
  return [...regions, ...joinColumns(rest)].sort((a, b) => comparePlaces(parseRange(a.range)!, parseRange(b.range)!));
}

/** Texts one below the other, as of a column that somebody left out, are one region. */
function joinColumns(rest: SpecRegion[]): SpecRegion[] {
  const joined: SpecRegion[] = [];
  const open = new Map<string, { region: SpecRegion; range: Range }>();
  for (const region of rest) {
    const range = parseRange(region.range)!;
    const place = `${range.left} ${range.right} ${region.kind}`;
    const above = open.get(place);
    if (above && above.range.bottom === range.top - 1) {
      above.range.bottom = range.bottom;
      above.region.range = formatRange(above.range);
      continue;
    }
    open.set(place, { region, range });
    joined.push(region);
  }
  return joined;
}

/** Tells which cells a region takes. */
function holder(region: SpecRegion): (row: number, column: number) => boolean {
  const { top, left, bottom, right } = parseRange(region.range)!;
  const isInside = (row: number, column: number) => row >= top && row <= bottom && column >= left && column <= right;
  if (!isTableRegion(region)) return isInside;
  const columns = new Set(region.columns.map(({ from }) => parseColumn(from)));
  const headers = new Set(region.header_rows);
  const data = region.data_range === null ? null : parseRange(region.data_range);
  return (row, column) =>
    isInside(row, column) && (headers.has(row) || (data !== null && row >= data.top && row <= data.bottom && columns.has(column)));
}

function makeText(view: SheetView, range: Range, above: boolean): SpecRegion {
  return {
    id: '',
    sheet: view.grid.sheet,
    range: formatRange(range),
    kind: above ? 'title' : 'note',
    name: '',
    header_rows: [],
    data_range: null,
    orientation: 'rows',
    columns: [],
    selected: false,
  };
}

function comparePlaces(a: Range, b: Range): number {
  return a.top - b.top || a.left - b.left;
}

export function overlaps(a: Range, b: Range): boolean {
  return a.top <= b.bottom && b.top <= a.bottom && a.left <= b.right && b.left <= a.right;
}
