/** Decides when a sheet was not understood, so that it stays a raw table. */

import { parseRange } from '../../a1/address.ts';
import type { Conservation } from '../building/output.ts';
import { isMadeUpName } from '../names/naming.ts';
import { readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import type { Finding } from '../spec/finding.ts';
import { isTableRegion, type SpecRegion } from '../spec/spec.ts';
import { DOUBTFUL_CONFIDENCE, MAX_FORCED_COLUMNS, MAX_UNNAMED_SHARE, MIN_NAMED_COLUMNS } from '../thresholds.ts';

/** More tables than this on one sheet are fragments of something else. */
const MAX_TABLES = 150;
/** Numbers that ended up among the notes: few are dates and page numbers, many are a table that was missed. */
const MAX_STRAY_NUMBERS = 20;
const MAX_STRAY_SHARE = 0.25;

export function findDoubt(view: SheetView, regions: SpecRegion[], conservation: Conservation, findings: Finding[] = []): string | null {
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
  return findLostHeader(regions, findings);
}

/** Names among the figures, or figures without names: the header of a table was not found. */
function findLostHeader(regions: SpecRegion[], findings: Finding[]): string | null {
  const forced = new Map<string, number>();
  for (const { kind, table, cell, count = 1 } of findings) {
    if (kind !== 'forced_text' || count > 1) continue;
    const line = `${table}\n${/\d+$/.exec(cell)?.[0]}`;
    forced.set(line, (forced.get(line) ?? 0) + 1);
  }
  for (const [line, columns] of forced)
    if (columns > MAX_FORCED_COLUMNS) return `row ${line.split('\n')[1]} makes ${columns} columns of numbers text: it may be a header`;
  for (const { name, kind, columns, header_rows: rows } of regions) {
    if (kind !== 'data' || columns.length < MIN_NAMED_COLUMNS || rows.length === 0) continue;
    const unnamed = columns.filter((column) => isMadeUpName(column.name)).length;
    if (unnamed > columns.length * MAX_UNNAMED_SHARE) return `${unnamed} of the ${columns.length} columns of ${name} have no name`;
  }
  return null;
}

/** Sheets that people should look at: those that stay raw, and those whose largest table was read with little confidence. */
export function listDoubtful(regions: SpecRegion[], rawSheets: { sheet: string; reason: string }[]): { sheet: string; reason: string }[] {
  const raw = new Set(rawSheets.map(({ sheet }) => sheet));
  const main = new Map<string, SpecRegion>();
  for (const region of regions) {
    const largest = main.get(region.sheet);
    if (!isTableRegion(region) || raw.has(region.sheet) || (largest && sizeOf(largest) >= sizeOf(region))) continue;
    main.set(region.sheet, region);
  }
  const doubtful = [...main.values()].flatMap(({ sheet, range, confidence = 1, decisions = [] }) => {
    if (confidence >= DOUBTFUL_CONFIDENCE) return [];
    const { reason, otherwise } = decisions.reduce((least, decision) => (decision.confidence < least.confidence ? decision : least));
    return [{ sheet, reason: `${range}: ${reason}${otherwise === undefined ? '' : `; else: ${otherwise}`}` }];
  });
  return [...rawSheets, ...doubtful];
}

function sizeOf({ range }: SpecRegion): number {
  const { top, left, bottom, right } = parseRange(range)!;
  return (bottom - top + 1) * (right - left + 1);
}
