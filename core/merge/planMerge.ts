import { sameValue } from '../cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import { maxFaults } from '../table/casting.ts';
import { fillDefaults, readCell } from '../table/cells.ts';
import type { LogEntry } from '../table/log.ts';
import { type Cells, type ColumnRecord, rowIdColumn } from '../table/table.ts';
import { rowIdField } from '../table/visibleTable.ts';
import { explainUnfit, type FileCell } from './fileCell.ts';
import { sameAsExcel } from './sameAsExcel.ts';

/** A row of a returned file. */
export interface FileRow {
  /** Its row in the sheet, or its line. */
  place: number;
  /** Null for a row that was added; a text for what is no row id. */
  rowId: number | string | null;
  /** An earlier row of the file with the same row id. */
  twin?: number;
  /** The cells that differ from the export, in the order of the columns. */
  edits: FileEdit[];
}

export interface FileEdit {
  /** Its place among the columns that the file has. */
  column: number;
  cell: FileCell | null;
}

/** One row on its three sides; null where it does not exist. */
export interface ThreeSides {
  rowId: number | null;
  base: Cells | null;
  current: Cells | null;
  file: FileRow | null;
}

/**
 * A value that the merge replaced although somebody had changed it since the export. `prior` is what was replaced. Where a whole
 * row is meant the column is that of the row id, and null means that there is no such row.
 */
export interface MergeConflict {
  rowId: number;
  columnId: number;
  base: string | null;
  prior: string | null;
  current: string | null;
}

export interface RowFault {
  place: number;
  /** The column's name. */
  name: string;
  why: string;
}

export interface MergePlan {
  entries: LogEntry[];
  conflicts: MergeConflict[];
  /** At most 100. Where there is one, nothing is to be applied. */
  faults: RowFault[];
  /** Rows of the file that change nothing. */
  unchanged: number;
}

interface Edit {
  id: number;
  type: ColumnType;
  value: string | null;
  cell: FileCell | null;
}

/**
 * Merges a returned file into a table, row by row. Only cells that differ from the export are edits. Where both sides changed a
 * cell, or one changed a row that the other deleted, the file wins and a conflict keeps what it replaced.
 */
export class MergePlanner {
  readonly plan: MergePlan;
  private readonly typed: { column: ColumnRecord; type: ColumnType }[];
  private readonly types: ReadonlyMap<number, ColumnType>;
  private readonly earlier = new Map<string, number>();
  private inserted = 0;

  /**
   * @param columns all of the table's current columns
   * @param inFile those that the file has, in its order
   * @param unchanged rows of the file that are not added because nothing in them was edited
   * @param earlierInserts rows that earlier merges of the same export added and that still exist, as they were then
   */
  constructor(
    private readonly columns: ColumnRecord[],
    inFile: ColumnRecord[],
    unchanged = 0,
    earlierInserts: Iterable<Cells> = [],
  ) {
    this.plan = { entries: [], conflicts: [], faults: [], unchanged };
    this.types = new Map(columns.map(({ id, type }) => [id, parseColumnType(type) as ColumnType]));
    this.typed = inFile.map((column) => ({ column, type: parseColumnType(column.type) as ColumnType }));
    for (const cells of earlierInserts) {
      const key = this.keyOf(cells);
      this.earlier.set(key, (this.earlier.get(key) ?? 0) + 1);
    }
  }

  add(row: ThreeSides): void {
    if (row.file) this.addFileRow(row, row.file);
    else if (row.base && row.current && row.rowId !== null) this.deleteRow(row.rowId, row.base, row.current);
  }

  private addFileRow({ rowId, base, current }: ThreeSides, file: FileRow): void {
    const fault = findRowIdFault(file, base);
    if (fault) {
      this.fail(file.place, rowIdColumn, fault);
      return;
    }
    if (rowId === null || !base) {
      this.insertRow(file);
      return;
    }
    const edits = this.checkEdits(file);
    if (!edits) return;
    if (edits.length === 0) this.plan.unchanged += 1;
    else if (current) this.updateRow(rowId, base, current, edits);
    else this.restoreRow(rowId, base, edits);
  }

  /** Null if some do not fit their columns. */
  private checkEdits({ place, edits: given }: FileRow): Edit[] | null {
    const edits: Edit[] = [];
    let fits = true;
    for (const { column: at, cell } of given) {
      const typed = this.typed[at];
      if (!typed) throw new Error(`the file has no column ${at}`);
      const { column, type } = typed;
      if (cell && !cell.fits) {
        fits = false;
        this.fail(place, column.name, explainUnfit(type, cell));
      } else edits.push({ id: column.id, type, value: cell?.text ?? null, cell });
    }
    return fits ? edits : null;
  }

  private insertRow(file: FileRow): void {
    const edits = this.checkEdits(file);
    // Rows without any value are left over below a table.
    if (!edits || edits.length === 0) return;
    const given = toCells(edits);
    const key = this.keyOf(given);
    const known = this.earlier.get(key) ?? 0;
    if (known > 0) {
      this.earlier.set(key, known - 1);
      this.plan.unchanged += 1;
      return;
    }
    this.inserted += 1;
    const cells = Object.fromEntries(this.columns.map(({ id }) => [id, given[id] ?? null]));
    this.plan.entries.push({ rowId: -this.inserted, op: 'I', changed: edits.map(({ id }) => id), cells, before: null });
  }

  private updateRow(rowId: number, base: Cells, current: Cells, edits: Edit[]): void {
    const open = edits.filter(({ id, type, cell }) => !sameAsExcel(type, current[id] ?? null, cell));
    if (open.length === 0) {
      this.plan.unchanged += 1;
      return;
    }
    const whole = fillDefaults(this.columns, current);
    const before: Cells = {};
    for (const { id, type, value } of open) {
      const prior = whole[id] ?? null;
      before[id] = prior;
      if (!sameValue(type, base[id] ?? null, prior))
        this.plan.conflicts.push({ rowId, columnId: id, base: base[id] ?? null, prior, current: value });
    }
    this.plan.entries.push({ rowId, op: 'U', changed: open.map(({ id }) => id), cells: { ...whole, ...toCells(open) }, before });
  }

  /** The row was deleted meanwhile, and edited in the file. */
  private restoreRow(rowId: number, base: Cells, edits: Edit[]): void {
    const cells = { ...fillDefaults(this.columns, base), ...toCells(edits) };
    this.plan.entries.push({ rowId, op: 'I', changed: this.columns.map(({ id }) => id), cells, before: null });
    this.plan.conflicts.push({ rowId, columnId: rowIdField.id, base: String(rowId), prior: null, current: String(rowId) });
  }

  private deleteRow(rowId: number, base: Cells, current: Cells): void {
    const whole = fillDefaults(this.columns, current);
    this.plan.entries.push({ rowId, op: 'D', changed: this.columns.map(({ id }) => id), cells: null, before: whole });
    const wasEdited = this.columns.some(
      (column) => !sameValue(this.types.get(column.id) as ColumnType, readCell(base, column), whole[column.id] ?? null),
    );
    if (wasEdited) this.plan.conflicts.push({ rowId, columnId: rowIdField.id, base: String(rowId), prior: String(rowId), current: null });
  }

  private keyOf(cells: Cells): string {
    return JSON.stringify(this.typed.map(({ column }) => cells[column.id] ?? null));
  }

  private fail(place: number, name: string, why: string): void {
    if (this.plan.faults.length < maxFaults) this.plan.faults.push({ place, name, why });
  }
}

/** What is wrong with the row id of a row of the file. */
function findRowIdFault({ rowId, twin }: FileRow, base: Cells | null): string | null {
  if (twin !== undefined) return `is the row id of row ${twin} already; clear it in the copy to add it as a new row`;
  if (typeof rowId === 'string') return 'is no row id; clear it to add the row as a new one';
  return rowId !== null && !base ? 'names no row of the export; clear it to add the row as a new one' : null;
}

function toCells(edits: Edit[]): Cells {
  return Object.fromEntries(edits.map(({ id, value }) => [id, value]));
}
