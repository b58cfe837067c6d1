/** Cuts a sheet into blocks that each hold one table with its titles and notes. */

import type { Range } from '../../grid/grid.ts';
import { boundsOf, readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { MAX_DEPTH } from '../thresholds.ts';
import { findMarked, type MarkedTable, splitMarked, splitPrinted } from './marked.ts';
import { splitColumns } from './splitColumns.ts';
import { splitRows } from './splitRows.ts';

export function splitSheet(view: SheetView, marked: MarkedTable[] = []): Range[] {
  return view.used ? splitBlock(view, marked, view.used, 0) : [];
}

function splitBlock(view: SheetView, marked: MarkedTable[], block: Range, depth: number): Range[] {
  const lines = readLines(view, block);
  const bounds = boundsOf(lines);
  if (!bounds) return [];
  const own = { ...bounds, left: Math.max(bounds.left, block.left), right: Math.min(bounds.right, block.right) };
  if (depth >= MAX_DEPTH) return [own];
  const around = marked.length > 0 ? splitMarked(view, marked, own, lines) : null;
  if (!around && marked.length > 0 && findMarked(marked, view, own)) return [own];
  const parts = around ?? splitPrinted(view, own, lines) ?? splitColumns(view, own, lines) ?? splitRows(view, own, lines);
  return parts ? parts.flatMap((part) => splitBlock(view, marked, part, depth + 1)) : [own];
}
