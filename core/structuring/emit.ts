/** Turns rows of a region into the rows of an output table, wide or long, and notes where each value came from. */

import { type ColumnType, convertValue, type InferredColumn, inferColumn, type StoredValue } from '../types/infer.ts';
import { columnNumber } from './a1.ts';
import { claimColumn } from './columns.ts';
import type { Ledger } from './ledger.ts';
import type { OutputColumn, OutputTable, TableRole } from './output.ts';
import { key, type SheetView } from './sheet.ts';
import type { SpecColumn, SpecPeriod, SpecRegion } from './spec.ts';

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

/** Rows to be written for some of the periods; without periods the rows alone. */
export interface EmitBatch {
  rows: EmitRow[];
  periods: SpecPeriod[];
}

export function emitTable(plan: EmitPlan, name: string, role: TableRole, batches: EmitBatch[]): OutputTable {
  return (plan.region.periods ?? []).length === 0
    ? emitWide(
        plan,
        name,
        role,
        batches.flatMap((batch) => batch.rows),
      )
    : emitLong(plan, name, role, batches);
}

function emitWide(plan: EmitPlan, name: string, role: TableRole, rows: EmitRow[]): OutputTable {
  const writer = new TableWriter(plan, name, role);
  const numbers = plan.columns.map((column) => columnNumber(column.from));
  const columns = plan.columns.map((column) => writer.addCells(column.name, typeOf(column)));
  const reader = new RowReader(plan);
  for (const row of rows) {
    reader.read(row.row);
    writer.startRow(row);
    for (let k = 0; k < numbers.length; k += 1) {
      const cell = reader.at(numbers[k]!);
      columns[k]!.push(cell);
      if (cell < 0) continue;
      plan.ledger.share(cell, 'value', plan.region.id);
      writer.addSource(cell);
    }
  }
  return writer.finish();
}

/** One row per identity and period; the measures are columns. */
function emitLong(plan: EmitPlan, name: string, role: TableRole, batches: EmitBatch[]): OutputTable {
  const all = plan.region.periods!;
  const byColumn = new Set(all.map((period) => period.from));
  const identity = plan.columns.filter((column) => !byColumn.has(column.from));
  const identityNumbers = identity.map((column) => columnNumber(column.from));
  const measures = [...new Set(all.map((period) => period.measure))];
  const writer = new TableWriter(plan, name, role, ['期間', '期間開始']);
  const identityColumns = identity.map((column) => writer.addCells(column.name, typeOf(column)));
  const labels = writer.addTexts('期間', 'VARCHAR');
  const starts = writer.addTexts('期間開始', 'DATE');
  const measureColumns = measures.map((measure) => writer.addCells(measure, null));
  const reader = new RowReader(plan);
  for (const batch of batches) {
    const groups = groupPeriods(batch.periods).map((group) => ({
      ...group,
      columns: measures.map((measure) => columnNumber(group.periods.find((period) => period.measure === measure)?.from ?? '')),
    }));
    for (const row of batch.rows) {
      reader.read(row.row);
      const own = identityNumbers.map((column) => reader.at(column));
      for (const cell of own) if (cell >= 0) plan.ledger.share(cell, 'value', plan.region.id);
      for (const group of groups) {
        writer.startRow(row);
        own.forEach((cell, k) => {
          identityColumns[k]!.push(cell);
          writer.addSource(cell);
        });
        labels.push(group.label);
        starts.push(group.start);
        group.columns.forEach((column, k) => {
          const cell = column > 0 ? reader.own(column) : -1;
          measureColumns[k]!.push(cell);
          if (cell >= 0) plan.ledger.place(cell, 'value');
          writer.addSource(cell);
        });
      }
    }
  }
  return writer.finish();
}

/** The cells of one sheet row by column, so that wide rows are read once. */
class RowReader {
  private readonly cells: Int32Array;
  private readonly left: number;
  private row = 0;
  private seen: number[] = [];

  constructor(private readonly plan: EmitPlan) {
    const numbers = plan.region.columns.map((column) => columnNumber(column.from));
    this.left = Math.min(...numbers, 1);
    this.cells = new Int32Array(Math.max(...numbers, 1) - this.left + 1).fill(-1);
  }

  read(row: number): void {
    for (const k of this.seen) this.cells[k] = -1;
    this.seen = [];
    this.row = row;
    const { view } = this.plan;
    const index = view.rowIndex(row);
    if (view.rows[index] !== row) return;
    const [from, to] = view.cellsOfRow(index, this.left, this.left + this.cells.length - 1);
    for (let i = from; i < to; i += 1) {
      const k = view.grid.columns[i]! - this.left;
      this.cells[k] = i;
      this.seen.push(k);
    }
  }

  own(column: number): number {
    return this.cells[column - this.left] ?? -1;
  }

  /** The cell of this row, or the merged one that covers it. */
  at(column: number): number {
    const cell = this.own(column);
    return cell >= 0 ? cell : (this.plan.filled.get(key(this.row, column)) ?? -1);
  }
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

type WrittenColumn =
  | { name: string; texts: (string | null)[]; type: ColumnType }
  | { name: string; cells: number[]; wanted: InferredColumn | null };

/** Collects cells, then settles the types: what the ParseSpec says where every value fits, what fits otherwise. */
class TableWriter {
  private readonly columns: WrittenColumn[] = [];
  private readonly leads: (string | null)[][];
  private readonly offsets: number[] = [];
  private readonly sources: number[] = [];
  private readonly taken: Set<string>;

  constructor(
    private readonly plan: EmitPlan,
    private readonly name: string,
    private readonly role: TableRole,
    reserved: string[] = [],
  ) {
    this.leads = plan.leadNames.map(() => []);
    this.taken = new Set([...plan.leadNames, ...reserved].map((text) => text.toLowerCase()));
  }

  addCells(name: string, wanted: InferredColumn | null): number[] {
    const cells: number[] = [];
    this.columns.push({ name: claimColumn(name, this.taken), cells, wanted });
    return cells;
  }

  addTexts(name: string, type: ColumnType): (string | null)[] {
    const texts: (string | null)[] = [];
    this.columns.push({ name, texts, type });
    return texts;
  }

  startRow(row: EmitRow): void {
    this.offsets.push(this.sources.length);
    row.lead.forEach((lead, k) => {
      this.leads[k]!.push(lead.text);
      if (lead.cell < 0) return;
      this.plan.ledger.share(lead.cell, 'label', this.plan.region.id);
      this.sources.push(lead.cell);
    });
  }

  addSource(cell: number): void {
    if (cell >= 0) this.sources.push(cell);
  }

  finish(): OutputTable {
    const { view, leadNames, region } = this.plan;
    const columns: OutputColumn[] = leadNames.map((name) => ({ name, type: 'VARCHAR' }));
    const data: StoredValue[][] = [...this.leads];
    for (const column of this.columns) {
      if ('texts' in column) {
        columns.push({ name: column.name, type: column.type });
        data.push(column.texts);
        continue;
      }
      const settled = settleType(view, column.wanted, column.cells);
      columns.push({ name: column.name, type: settled.type });
      data.push(column.cells.map((cell) => (cell < 0 ? null : convertValue(view.value(cell), settled))));
    }
    const rows: StoredValue[][] = this.offsets.map((_, n) => data.map((values) => values[n]!));
    return {
      name: this.name,
      role: this.role,
      sheet: view.grid.sheet,
      regionId: region.id,
      columns,
      rows,
      provenance: { offsets: [...this.offsets, this.sources.length], cells: this.sources },
    };
  }
}

function settleType(view: SheetView, wanted: InferredColumn | null, cells: number[]): InferredColumn {
  const filled = cells.some((cell) => cell >= 0);
  if (!filled) return wanted ?? { type: 'DOUBLE' };
  if (wanted?.type === 'VARCHAR') return wanted;
  const own = inferColumn(valuesOf(view, cells));
  if (!wanted || own.type === wanted.type) return own;
  return fits(own.type, wanted.type) ? wanted : own;
}

/** A narrower kind fits a wider column: integers among doubles, days among moments. */
function fits(own: ColumnType, wanted: ColumnType): boolean {
  return (own === 'BIGINT' && wanted === 'DOUBLE') || (own === 'DATE' && wanted === 'TIMESTAMP');
}

function* valuesOf(view: SheetView, cells: number[]) {
  for (const cell of cells) if (cell >= 0) yield view.value(cell);
}
