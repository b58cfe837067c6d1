import { type ColumnRecord, rowIdColumn } from '../table/table.ts';
import type { VisibleColumn } from '../table/visibleTable.ts';

/** A column as it was exported. */
export interface ExportedColumn {
  id: number;
  name: string;
  masked: boolean;
}

export interface MatchedHeader {
  /** The place of the row id among the columns of the file. */
  rowId: number;
  /** Columns of the table with their places in the file. Those of the table that the file does not have stay as they are. */
  columns: { place: number; column: ColumnRecord }[];
}

export interface HeaderFault {
  /** Place of the column in the file; null: the header as a whole. */
  place: number | null;
  name: string;
  why: string;
}

export type HeaderMatch = { kind: 'matched'; header: MatchedHeader } | { kind: 'faulty'; faults: HeaderFault[] };

/**
 * Finds the columns of a returned file by their headers, in any order. A column that was renamed since the export has its old name
 * or its new one. Masked columns are ignored: nobody may write what they do not see.
 */
export function matchHeader(names: readonly (string | null)[], exported: ExportedColumn[], current: VisibleColumn[]): HeaderMatch {
  const faults: HeaderFault[] = [];
  const columns: MatchedHeader['columns'] = [];
  const taken = new Set<number>();
  let rowId = -1;
  for (const [place, header] of names.entries()) {
    const name = header?.trim() ?? '';
    const fail = (why: string) => faults.push({ place, name, why });
    if (name === '') continue;
    if (name === rowIdColumn) {
      if (rowId >= 0) fail('stands in the header twice');
      else rowId = place;
      continue;
    }
    const found = findExported(name, exported, current);
    const column = found && current.find(({ id }) => id === found.id);
    // What is hidden is told no other way than what does not exist.
    if (!column) {
      fail('is no column of the export and the table; add the column to the table first, or take it out of the file');
      continue;
    }
    if (taken.has(found.id)) {
      fail('stands in the header twice');
      continue;
    }
    taken.add(found.id);
    if (!found.masked && !column.masked) columns.push({ place, column });
  }
  if (rowId < 0) faults.push({ place: null, name: rowIdColumn, why: 'is missing: without it no row can be found again' });
  return faults.length > 0 ? { kind: 'faulty', faults } : { kind: 'matched', header: { rowId, columns } };
}

function findExported(name: string, exported: ExportedColumn[], current: VisibleColumn[]): ExportedColumn | null {
  const exact = exported.find((column) => column.name.trim() === name);
  if (exact) return exact;
  const renamed = current.find((column) => column.name.trim() === name);
  const known = renamed && exported.find(({ id }) => id === renamed.id);
  const folded = name.toLowerCase();
  return known ?? exported.find((column) => column.name.trim().toLowerCase() === folded) ?? null;
}
