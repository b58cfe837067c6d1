/** Decides when a sheet was not understood, so that it stays a raw table. */

import { parseRange } from '../../a1/address.ts';
import type { Conservation } from '../building/output.ts';
import { readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { isTableRegion, type SpecRegion } from '../spec/spec.ts';

/** More tables than this on one sheet are fragments of something else. */
const MAX_TABLES = 150;
/** Numbers that ended up among the notes: few are dates and page numbers, many are a table that was missed. */
const MAX_STRAY_NUMBERS = 20;
const MAX_STRAY_SHARE = 0.25;

export function findDoubt(view: SheetView, regions: SpecRegion[], conservation: Conservation): string | null {
  if (conservation.lost.length > 0) return `cells would be lost: ${conservation.lost.slice(0, 5).join(', ')}`;
  if (conservation.twice.length > 0) return `cells would be used twice: ${conservation.twice.slice(0, 5).join(', ')}`;
  const tables = regions.filter(isTableRegion).length;
  if (tables > MAX_TABLES) return `${tables} separate tables were found, which is more than a sheet holds`;
  let stray = 0;
  for (const region of regions) {
    if (region.kind !== 'title' && region.kind !== 'note') continue;
    for (const line of readLines(view, parseRange(region.range)!)) stray += line.numbers;
  }
  if (stray > MAX_STRAY_NUMBERS && stray > MAX_STRAY_SHARE * conservation.cells)
    return `${stray} numbers stand outside of any table that was found`;
  return null;
}
