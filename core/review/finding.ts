import type { Place, Region, Value } from './region.ts';

export type Severity = 'error' | 'warning' | 'info';

export interface Evidence {
  rowId?: number;
  column?: string;
  cell?: string;
  value: Value;
}

export interface Finding {
  rule: string;
  severity: Severity;
  table: string;
  message: string;
  evidence: Evidence[];
  suggestedFix: string | null;
}

/** Where a finding shows, before it is known in which table: a cell of the region, or a number that was computed. */
export type Spot = { row: number; column: number } | { column: number; computed: number };

export interface Draft extends Omit<Finding, 'rule' | 'table' | 'evidence'> {
  /** The first says which table the finding is about. */
  spots: Spot[];
}

/** Evidence is to be looked at, one by one. */
const mostEvidence = 20;

export function toFinding(region: Region, rule: string, { spots, severity, message, suggestedFix }: Draft): Finding {
  let table = region.name;
  const evidence: Evidence[] = [];
  for (const spot of spots.slice(0, mostEvidence)) {
    const column = region.columns[spot.column];
    if (!column) continue;
    if ('computed' in spot) {
      evidence.push({ column: column.name, value: spot.computed });
      continue;
    }
    const place = region.locate(spot.row, spot.column);
    const value = column.values[spot.row] ?? null;
    if (place && evidence.length === 0) table = place.table;
    evidence.push(place ? placeEvidence(place, value) : { column: column.name, value });
  }
  return { rule, severity, table, message, evidence, suggestedFix };
}

function placeEvidence({ rowId, column, cell }: Place, value: Value): Evidence {
  return { rowId, column, ...(cell === null ? {} : { cell }), value };
}
