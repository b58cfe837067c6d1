/** Rows that people grouped in the workbook ("outline"): the row beside a group that is its sum. */

import type { ReportRow } from './report.ts';

interface RowGroup {
  /** Positions in the report of the group's own rows; those of groups inside it are left to them. */
  parts: number[];
  /** All rows of the group, with those of groups inside it. */
  all: number[];
  /** The rows right above and right below the group, which sum it where one of them does. */
  beside: number[];
}

/** The groups of a report, innermost first, so that the sum of an inner group can be a part of the outer one. */
export function listGroups(rows: ReportRow[], outlines: ReadonlyMap<number, number>): RowGroup[] {
  const levels = rows.map((row) => outlines.get(row.row) ?? 0);
  const groups: RowGroup[] = [];
  // Not spread into `Math.max`, which takes only so many.
  for (let level = levels.reduce((most, each) => Math.max(most, each), 0); level > 0; level -= 1) {
    for (let from = 0; from < rows.length; from += 1) {
      if (levels[from]! < level) continue;
      let to = from;
      while (to + 1 < rows.length && levels[to + 1]! >= level) to += 1;
      const all = Array.from({ length: to - from + 1 }, (_, k) => from + k);
      const beside = [to + 1, from - 1].filter((k) => k >= 0 && k < rows.length && !rows[k]!.virtual);
      groups.push({ parts: all.filter((k) => levels[k] === level), all, beside });
      from = to;
    }
  }
  return groups;
}
