/** Turns rows of a region into the rows of an output table, wide or long, and notes where each value came from. */

import { type CellValue, type ColumnType, convertValue, inferColumn, type InferredColumn, type StoredValue } from '../types/infer.js';
import { columnNumber, formatCell, formatRange } from './a1.js';
import { claimColumn } from './columns.js';
import type { Ledger } from './ledger.js';
import type { OutputColumn, OutputTable, TableRole } from './output.js';
import type { SheetView } from './sheet.js';
import type { SpecColumn, SpecPeriod, SpecRegion } from './spec.js';

/** One row to be written: texts put in front of the columns of the region, and the sheet row the rest comes from. */
export interface EmitRow {
  row: number;
  lead: { text: string | null; cell: number }[];
}

export interface EmitPlan {
  view: SheetView;
  ledger: Ledger;
  region: SpecRegion;
  /** Names of the lead columns, all text. */
  leadNames: string[];
  /** Columns of the region that are not in the lead. */
  columns: SpecColumn[];
  /** Cells that fill merged rows below their own. */
  filled: Map<number, number>;
}

export function emitTable(plan: EmitPlan, name: string, role: TableRole, rows: EmitRow[], computedPeriods: SpecPeriod[] | null): OutputTable {
  const periods = plan.region.periods ?? [];
  return periods.length === 0 ? emitWide(plan, name, role, rows) : emitLong(plan, name, role, rows, computedPeriods);
}

function emitWide(plan: EmitPlan, name: string, role: TableRole, rows: EmitRow[]): OutputTable {
  const writer = new TableWriter(plan, name, role, plan.columns.map((column) => column.name), plan.columns.map(typeOf));
  const numbers = plan.columns.map((column) => columnNumber(column.from));
  for (const row of rows) {
    const cells = numbers.map((column) => cellAt(plan, row.row, column));
    for (const cell of cells) if (cell >= 0) plan.ledger.share(cell, 'value', plan.region.id);
    writer.push(row, cells.map((cell) => (cell >= 0 ? plan.view.value(cell) : null)), [formatRange(spanOf(plan, row))]);
  }
  return writer.finish();
}

/** One row per identity and period; the measures are columns. */
function emitLong(plan: EmitPlan, name: string, role: TableRole, rows: EmitRow[], computedPeriods: SpecPeriod[] | null): OutputTable {
  const all = plan.region.periods!;
  const byColumn = new Set(all.map((period) => period.from));
  const identity = plan.columns.filter((column) => !byColumn.has(column.from));
  const measures = [...new Set(all.map((period) => period.measure))];
  const taken = new Set([...plan.leadNames, ...identity.map((column) => column.name), '期間', '期間開始'].map((text) => text.toLowerCase()));
  const names = [...identity.map((column) => column.name), '期間', '期間開始', ...measures.map((measure) => claimColumn(measure, taken))];
  const types: (InferredColumn | null)[] = [...identity.map(typeOf), { type: 'VARCHAR' }, { type: 'DATE' }, ...measures.map(() => null)];
  const writer = new TableWriter(plan, name, role, names, types);
  const groups = groupPeriods(computedPeriods ?? all.filter((period) => !period.computed));
  const identityNumbers = identity.map((column) => columnNumber(column.from));
  for (const row of rows) {
    const own = identityNumbers.map((column) => cellAt(plan, row.row, column));
    for (const cell of own) if (cell >= 0) plan.ledger.share(cell, 'value', plan.region.id);
    const shared = own.map((cell) => (cell >= 0 ? plan.view.value(cell) : null));
    const sources = [...row.lead.map((lead) => lead.cell), ...own].filter((cell) => cell >= 0).map((cell) => addressOf(plan.view, cell));
    for (const group of groups) {
      const cells = measures.map((measure) => {
        const period = group.periods.find((entry) => entry.measure === measure);
        return period ? plan.view.at(row.row, columnNumber(period.from)) : -1;
      });
      for (const cell of cells) if (cell >= 0) plan.ledger.place(cell, 'value');
      const values = cells.map((cell) => (cell >= 0 ? plan.view.value(cell) : null));
      const label: CellValue = { kind: 'text', text: group.label };
      const start: CellValue | null = group.start === null ? null : { kind: 'date', iso: group.start, hasTime: false, timeOnly: false };
      writer.push(row, [...shared, label, start, ...values], [...sources, ...cells.filter((cell) => cell >= 0).map((cell) => addressOf(plan.view, cell))]);
    }
  }
  return writer.finish();
}

function groupPeriods(periods: SpecPeriod[]): { label: string; start: string | null; periods: SpecPeriod[] }[] {
  const groups = new Map<string, { label: string; start: string | null; periods: SpecPeriod[] }>();
  for (const period of periods) {
    const group = groups.get(period.label) ?? { label: period.label, start: period.start, periods: [] };
    // The same measure twice under one label would lose a cell: it gets a row of its own.
    const clash = group.periods.some((other) => other.measure === period.measure);
    const label = clash ? `${period.label}_${columnNumber(period.from)}` : period.label;
    if (clash) groups.set(label, { label: period.label, start: period.start, periods: [period] });
    else {
      group.periods.push(period);
      groups.set(period.label, group);
    }
  }
  return [...groups.values()];
}

function typeOf(column: SpecColumn): InferredColumn {
  return { type: column.type, ...(column.format ? { dayFirst: column.format.startsWith('DD') } : {}) };
}

function cellAt(plan: EmitPlan, row: number, column: number): number {
  const cell = plan.view.at(row, column);
  return cell >= 0 ? cell : (plan.filled.get(row * 16_385 + column) ?? -1);
}

function addressOf(view: SheetView, cell: number): string {
  return formatCell(view.grid.rows[cell]!, view.grid.columns[cell]!);
}

function spanOf(plan: EmitPlan, row: EmitRow) {
  const columns = plan.region.columns.map((column) => columnNumber(column.from));
  return { top: row.row, bottom: row.row, left: Math.min(...columns), right: Math.max(...columns) };
}

/** Collects values, then settles the types: what the ParseSpec says where every value fits, what fits otherwise. */
class TableWriter {
  private readonly values: (CellValue | null)[][] = [];
  private readonly leads: (string | null)[][] = [];
  private readonly cells: string[][] = [];

  constructor(
    private readonly plan: EmitPlan,
    private readonly name: string,
    private readonly role: TableRole,
    private readonly names: string[],
    private readonly types: (InferredColumn | null)[],
  ) {}

  push(row: EmitRow, values: (CellValue | null)[], cells: string[]): void {
    for (const lead of row.lead) if (lead.cell >= 0) this.plan.ledger.share(lead.cell, 'label', this.plan.region.id);
    this.leads.push(row.lead.map((lead) => lead.text));
    this.values.push(values);
    this.cells.push(cells);
  }

  finish(): OutputTable {
    const settled = this.names.map((_, k) => settleType(this.types[k] ?? null, this.values, k));
    const columns: OutputColumn[] = [
      ...this.plan.leadNames.map((name) => ({ name, type: 'VARCHAR' as ColumnType })),
      ...this.names.map((name, k) => ({ name, type: settled[k]!.type })),
    ];
    const rows: StoredValue[][] = this.values.map((values, n) => [...this.leads[n]!, ...values.map((value, k) => convertValue(value, settled[k]!))]);
    return { name: this.name, role: this.role, sheet: this.plan.view.grid.sheet, regionId: this.plan.region.id, columns, rows, cells: this.cells };
  }
}

function settleType(wanted: InferredColumn | null, rows: (CellValue | null)[][], k: number): InferredColumn {
  const own = inferColumn(columnOf(rows, k));
  if (!wanted) return own.type === 'VARCHAR' && !hasText(rows, k) ? { type: 'DOUBLE' } : own;
  if (wanted.type === 'VARCHAR' || own.type === wanted.type) return wanted;
  if (!hasText(rows, k) || fits(own.type, wanted.type)) return wanted;
  return own;
}

/** A narrower kind fits a wider column: integers among doubles, days among moments. */
function fits(own: ColumnType, wanted: ColumnType): boolean {
  return (own === 'BIGINT' && wanted === 'DOUBLE') || (own === 'DATE' && wanted === 'TIMESTAMP');
}

function hasText(rows: (CellValue | null)[][], k: number): boolean {
  return rows.some((row) => row[k] !== null && row[k] !== undefined);
}

function* columnOf(rows: (CellValue | null)[][], k: number) {
  for (const row of rows) yield row[k] ?? null;
}
