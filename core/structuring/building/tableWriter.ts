/** Collects the cells of an output table column by column, then decides the types and returns the table. */

import { claimColumn, ROW_ID_NAME } from '../headers/columnNames.ts';
import { IntList } from '../sheet/intList.ts';
import type { EmitPlan, EmitRow } from './emitPlan.ts';
import type { OutputColumn, OutputTable, TableRole, ValueList } from './output.ts';
import { settleColumn, type WantedType } from './typing.ts';

/** A column that takes cells of the grid, -1 where there is none. */
interface CellColumn {
  position: number;
  cells: IntList;
}

interface TextColumn {
  position: number;
  texts: (string | null)[];
}

type WrittenColumn = { name: string } & ((CellColumn & { wanted: WantedType | null }) | (TextColumn & { type: string }));

export class TableWriter {
  private readonly columns: WrittenColumn[] = [];
  private readonly leads: (string | null)[][];
  private readonly offsets: IntList;
  private readonly sources: IntList;
  private readonly targets: IntList;
  private readonly taken: Set<string>;

  constructor(
    private readonly plan: EmitPlan,
    private readonly name: string,
    private readonly role: TableRole,
    /** How many rows are expected. */
    private readonly rows: number,
    reserved: string[] = [],
  ) {
    this.offsets = new IntList(rows + 1);
    const cells = Math.min(rows * plan.columns.length, plan.view.grid.size);
    this.sources = new IntList(cells);
    this.targets = new IntList(cells);
    this.leads = plan.leadNames.map(() => []);
    this.taken = new Set([ROW_ID_NAME, ...plan.leadNames, ...reserved].map((text) => text.toLowerCase()));
  }

  /** Without a wanted type the cells alone decide. */
  addCells(name: string, wanted: WantedType | null): CellColumn {
    const column = {
      name: claimColumn(name, this.taken),
      position: this.leads.length + this.columns.length,
      cells: new IntList(this.rows),
      wanted,
    };
    this.columns.push(column);
    return column;
  }

  addTexts(name: string, type: string): TextColumn {
    const column = { name, position: this.leads.length + this.columns.length, texts: [], type };
    this.columns.push(column);
    return column;
  }

  startRow(row: EmitRow): void {
    this.offsets.push(this.sources.length);
    row.lead.forEach((lead, k) => {
      this.leads[k]!.push(lead.text);
      if (lead.cell < 0) return;
      this.plan.ledger.share(lead.cell, 'label', this.plan.region.id);
      this.addSource(lead.cell, k);
    });
  }

  addSource(cell: number, position: number): void {
    if (cell < 0) return;
    this.sources.push(cell);
    this.targets.push(position);
  }

  finish(): OutputTable {
    const { view, leadNames, region } = this.plan;
    const columns: OutputColumn[] = leadNames.map((name) => ({ name, type: 'VARCHAR' }));
    const values: ValueList[] = [...this.leads];
    const made: number[] = [];
    for (const column of this.columns) {
      if ('texts' in column) {
        columns.push({ name: column.name, type: column.type });
        values.push(column.texts);
        made.push(column.position);
        continue;
      }
      const settled = settleColumn(this.plan, this.role, column.wanted, column.cells.finish());
      columns.push({ name: column.name, type: settled.type });
      values.push(settled.values);
    }
    const rowCount = this.offsets.length;
    this.offsets.push(this.sources.length);
    return {
      name: this.name,
      role: this.role,
      sheet: view.grid.sheet,
      regionId: region.id,
      range: region.range,
      columns,
      rowCount,
      values,
      made,
      provenance: { offsets: this.offsets.finish(), cells: this.sources.finish(), columns: this.targets.finish() },
    };
  }
}
