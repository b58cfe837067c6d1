/** Turns rows of a region into the rows of an output table, wide or long, and notes where each value came from. */

import { parseColumn, parseRange } from '../../a1/address.ts';
import { readHeaderParts } from '../headers/columnNames.ts';
import { key } from '../sheet/sheet.ts';
import type { SpecPeriod } from '../spec/spec.ts';
import type { EmitBatch, EmitPlan, EmitRow } from './emitPlan.ts';
import type { OutputTable, TableRole } from './output.ts';
import { TableWriter } from './tableWriter.ts';
import { commonType, readType } from './typing.ts';

export function emitTable(plan: EmitPlan, name: string, role: TableRole, batches: EmitBatch[]): OutputTable {
  return (plan.region.periods ?? []).length === 0
    ? emitWide(plan, name, role, batches.length === 1 ? batches[0]!.rows : batches.flatMap((batch) => batch.rows))
    : emitLong(plan, name, role, batches);
}

function emitWide(plan: EmitPlan, name: string, role: TableRole, rows: EmitRow[]): OutputTable {
  const writer = new TableWriter(plan, name, role, rows.length);
  const numbers = plan.columns.map((column) => parseColumn(column.from));
  const columns = plan.columns.map((column) => writer.addCells(column.name, readType(column)));
  const reader = new RowReader(plan);
  for (const row of rows) {
    reader.read(row.row);
    writer.startRow(row);
    for (let k = 0; k < numbers.length; k += 1) {
      const cell = reader.at(numbers[k]!);
      const { cells, position } = columns[k]!;
      cells.push(cell);
      writer.addSource(cell, position);
    }
  }
  for (const { cells } of columns) plan.ledger.shareAll(cells.finish(), 'value', plan.region.id);
  return writer.finish();
}

/** One row per identity and period; the measures are columns. */
function emitLong(plan: EmitPlan, name: string, role: TableRole, batches: EmitBatch[]): OutputTable {
  const all = plan.region.periods!;
  const byColumn = new Set(all.map((period) => period.from));
  const identity = plan.columns.filter((column) => !byColumn.has(column.from));
  const identityNumbers = identity.map((column) => parseColumn(column.from));
  const measures = [...new Set(all.map((period) => period.measure))];
  const count = batches.reduce((sum, { rows, periods }) => sum + rows.length * periods.length, 0);
  const writer = new TableWriter(plan, name, role, count, [plan.naming.period, plan.naming.periodStart]);
  const identityColumns = identity.map((column) => writer.addCells(column.name, readType(column)));
  const labels = writer.addTexts(plan.naming.period, 'VARCHAR');
  const starts = writer.addTexts(plan.naming.periodStart, 'DATE');
  const measureColumns = measures.map((measure) => writer.addCells(measure, commonType(plan.types, plan.region, measure)));
  const headersOf = findPeriodHeaders(plan);
  const reader = new RowReader(plan);
  for (const batch of batches) {
    const groups = groupPeriods(batch.periods).map((group) => ({
      ...group,
      columns: measures.map((measure) => parseColumn(group.periods.find((period) => period.measure === measure)?.from ?? '')),
      headers: headersOf(group.periods),
    }));
    for (const row of batch.rows) {
      reader.read(row.row);
      const own = identityNumbers.map((column) => reader.at(column));
      for (const cell of own) if (cell >= 0) plan.ledger.share(cell, 'value', plan.region.id);
      for (const group of groups) {
        writer.startRow(row);
        own.forEach((cell, k) => {
          const { cells, position } = identityColumns[k]!;
          cells.push(cell);
          writer.addSource(cell, position);
        });
        labels.texts.push(group.label);
        starts.texts.push(group.start);
        for (const header of group.headers) writer.addSource(header, labels.position);
        group.columns.forEach((column, k) => {
          const { cells, position } = measureColumns[k]!;
          const cell = column > 0 ? reader.own(column) : -1;
          cells.push(cell);
          if (cell >= 0) plan.ledger.place(cell, 'value');
          writer.addSource(cell, position);
        });
      }
    }
  }
  return writer.finish();
}

/** The header cells that say which period a column is of; all of its header where the label was written by hand. */
function findPeriodHeaders(plan: EmitPlan): (periods: SpecPeriod[]) => number[] {
  const range = parseRange(plan.region.range)!;
  const parts = readHeaderParts(plan.view, range, plan.region.header_rows);
  return (periods) => {
    const cells = new Set<number>();
    for (const period of periods) {
      const own = parts[parseColumn(period.from) - range.left] ?? [];
      const said = own.filter((part) => `_${period.label}_`.includes(`_${part.text}_`));
      for (const part of said.length > 0 ? said : own) cells.add(part.cell);
    }
    return [...cells];
  };
}

/** The cells of one sheet row by column, so that wide rows are read once. */
class RowReader {
  private readonly cells: Int32Array;
  private readonly left: number;
  private row = 0;
  /** Where that row stands among the used ones. */
  private index = 0;
  /** The cells of the row that is in `cells`. */
  private from = 0;
  private to = 0;

  constructor(private readonly plan: EmitPlan) {
    const numbers = plan.region.columns.map((column) => parseColumn(column.from));
    this.left = Math.min(...numbers, 1);
    this.cells = new Int32Array(Math.max(...numbers, 1) - this.left + 1).fill(-1);
  }

  read(row: number): void {
    const { cells, left } = this;
    const { view } = this.plan;
    const { columns } = view.grid;
    for (let i = this.from; i < this.to; i += 1) cells[columns[i]! - left] = -1;
    this.from = this.to = 0;
    this.row = row;
    // Most rows follow one another.
    this.index = view.rows[this.index + 1] === row ? this.index + 1 : view.rowIndex(row);
    if (view.rows[this.index] !== row) return;
    [this.from, this.to] = view.cellsOfRow(this.index, left, left + cells.length - 1);
    for (let i = this.from; i < this.to; i += 1) cells[columns[i]! - left] = i;
  }

  own(column: number): number {
    return this.cells[column - this.left] ?? -1;
  }

  /** The cell of this row, or the merged one that covers it. */
  at(column: number): number {
    const cell = this.own(column);
    return cell >= 0 || this.plan.filled.size === 0 ? cell : (this.plan.filled.get(key(this.row, column)) ?? -1);
  }
}

function groupPeriods(periods: SpecPeriod[]): { label: string; start: string | null; periods: SpecPeriod[] }[] {
  const groups = new Map<string, { label: string; start: string | null; periods: SpecPeriod[] }>();
  for (const period of periods) {
    const group = groups.get(period.label) ?? { label: period.label, start: period.start, periods: [] };
    // The same measure twice under one label would lose a cell: it gets a row of its own.
    const clash = group.periods.some((other) => other.measure === period.measure);
    const label = clash ? `${period.label}_${parseColumn(period.from)}` : period.label;
    if (clash) groups.set(label, { label: period.label, start: period.start, periods: [period] });
    else {
      group.periods.push(period);
      groups.set(period.label, group);
    }
  }
  return [...groups.values()];
}
