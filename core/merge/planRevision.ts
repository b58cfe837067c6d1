import { castValue, Refusal, sameValue } from '../cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import { readCell } from '../table/cells.ts';
import type { LogEntry } from '../table/log.ts';
import type { Cells, ColumnRecord } from '../table/table.ts';
import { rowIdField } from '../table/visibleTable.ts';
import type { MergeConflict } from './planMerge.ts';
import type { RevisedColumn, RevisedColumns } from './reviseColumns.ts';

/** A row that people touched, on its three sides; null where it does not exist. */
export interface RevisedRow {
  rowId: number;
  base: Cells | null;
  current: Cells | null;
  /** In the new file, where its id may be another. */
  next: { rowId: number; cells: Cells } | null;
}

export interface RevisionPlan {
  /** Edits that bring what people did to the content of the new file. */
  entries: LogEntry[];
  conflicts: MergeConflict[];
}

/**
 * Brings edits of a table over to the new content of its file, by cell. As with returned files the new file wins where both
 * sides changed something, and a conflict keeps what it replaced.
 */
export class RevisionPlanner {
  readonly plan: RevisionPlan = { entries: [], conflicts: [] };
  private readonly sides: Side[];
  private readonly ids: number[];
  private inserted = 0;

  /** @param keepsIds whether rows that people added keep their ids; else they come after the rows of the file. */
  constructor(
    private readonly revised: RevisedColumns,
    private readonly keepsIds: boolean,
  ) {
    this.sides = revised.columns.map((column) => new Side(column));
    this.ids = this.sides.map(({ id }) => id);
  }

  add({ rowId, base, current, next }: RevisedRow): void {
    if (next) {
      if (current) this.updateRow(base, current, next);
      else if (base) this.deleteRow(base, next);
    } else if (current) {
      if (base) this.loseRow(rowId, base, current);
      else this.insertRow(rowId, current);
    }
  }

  private updateRow(base: Cells | null, current: Cells, next: NonNullable<RevisedRow['next']>): void {
    const { rowId } = next;
    const whole = this.wholeRow(next.cells);
    const edits: Cells = {};
    for (const side of this.sides) {
      if (!side.wasEdited(base, current)) continue;
      const mine = side.mine(current);
      const theirs = whole[side.id] ?? null;
      if (mine === undefined) this.keepUnfit(side, rowId, base, current);
      else if (sameValue(side.type, mine, theirs)) continue;
      else if (!side.wasRevised(base, theirs)) edits[side.id] = mine;
      else this.plan.conflicts.push({ rowId, columnId: side.id, base: side.before(base) ?? null, prior: mine, current: theirs });
    }
    this.keepEnded(rowId, base, current);
    const changed = Object.keys(edits).map(Number);
    if (changed.length === 0) return;
    const before = Object.fromEntries(changed.map((id) => [id, whole[id] ?? null]));
    this.plan.entries.push({ rowId, op: 'U', changed, cells: { ...whole, ...edits }, before });
  }

  /** Somebody deleted the row. It stays deleted, unless the file changed it. */
  private deleteRow(base: Cells, next: NonNullable<RevisedRow['next']>): void {
    const { rowId } = next;
    const whole = this.wholeRow(next.cells);
    if (this.sides.some((side) => side.isInBoth && side.wasRevised(base, whole[side.id] ?? null)))
      this.plan.conflicts.push({ rowId, columnId: rowIdField.id, base: String(rowId), prior: null, current: String(rowId) });
    else this.plan.entries.push({ rowId, op: 'D', changed: this.ids, cells: null, before: whole });
  }

  /** The new file does not have the row any more. */
  private loseRow(rowId: number, base: Cells, current: Cells): void {
    const wasEdited = this.sides.some((side) => side.wasEdited(base, current)) || this.listEnded(base, current).length > 0;
    if (wasEdited) this.plan.conflicts.push({ rowId, columnId: rowIdField.id, base: String(rowId), prior: String(rowId), current: null });
  }

  private insertRow(rowId: number, current: Cells): void {
    const cells: Cells = {};
    for (const side of this.sides) {
      const mine = side.mine(current);
      if (mine === undefined) this.keepUnfit(side, rowId, null, current);
      cells[side.id] = mine ?? null;
    }
    this.keepEnded(rowId, null, current);
    this.inserted += 1;
    this.plan.entries.push({ rowId: this.keepsIds ? rowId : -this.inserted, op: 'I', changed: this.ids, cells, before: null });
  }

  private wholeRow(next: Cells): Cells {
    return Object.fromEntries(this.sides.map((side) => [side.id, side.theirs(next)]));
  }

  /** A value that the type of the new file cannot hold is kept under the column that it was in. */
  private keepUnfit({ revised: { current: column } }: Side, rowId: number, base: Cells | null, current: Cells): void {
    if (column) this.plan.conflicts.push(endedConflict(rowId, column, base, current));
  }

  private keepEnded(rowId: number, base: Cells | null, current: Cells): void {
    for (const column of this.listEnded(base, current)) this.plan.conflicts.push(endedConflict(rowId, column, base, current));
  }

  /** Columns that the new file does not have any more, and in which somebody edited the row. */
  private listEnded(base: Cells | null, current: Cells): ColumnRecord[] {
    return this.revised.ended.flatMap(({ base: before, current: column }) => {
      const was = base && convert(readCell(base, before), before.type, column.type);
      return was !== undefined && sameValue(typeOf(column.type), was, readCell(current, column)) ? [] : [column];
    });
  }
}

function endedConflict(rowId: number, column: ColumnRecord, base: Cells | null, current: Cells): MergeConflict {
  return { rowId, columnId: column.id, base: base?.[column.id] ?? null, prior: readCell(current, column), current: null };
}

/** Reads the cells of one column. */
class Side {
  readonly id: number;
  readonly type: ColumnType;
  /** Whether the old file and the new one have it. */
  readonly isInBoth: boolean;

  constructor(readonly revised: RevisedColumn) {
    this.id = revised.column.id;
    this.type = typeOf(revised.column.type);
    this.isInBoth = revised.base !== null && revised.next !== null;
  }

  wasEdited(base: Cells | null, current: Cells): boolean {
    const { current: column } = this.revised;
    if (!column) return false;
    const was = this.baseAs(base, column.type);
    return was === undefined || !sameValue(typeOf(column.type), was, readCell(current, column));
  }

  wasRevised(base: Cells | null, theirs: string | null): boolean {
    const was = this.before(base);
    return was === undefined || !sameValue(this.type, was, theirs);
  }

  /** The value of the old file, in the type of the new one; undefined: it does not fit. */
  before(base: Cells | null): string | null | undefined {
    return this.baseAs(base, this.revised.column.type);
  }

  /** The value that people see, in the type of the new file; undefined: it does not fit. */
  mine(current: Cells): string | null | undefined {
    const { current: column } = this.revised;
    return column ? convert(readCell(current, column), column.type, this.revised.column.type) : null;
  }

  theirs(next: Cells): string | null {
    const { column, next: inFile } = this.revised;
    return inFile ? readCell(next, inFile) : column.defaultText;
  }

  private baseAs(base: Cells | null, type: string): string | null | undefined {
    const { base: inFile, current } = this.revised;
    if (!base) return null;
    // A column that people added, and perhaps the new file, too.
    if (!inFile) return current ? convert(current.defaultText, current.type, type) : null;
    return convert(readCell(base, inFile), inFile.type, type);
  }
}

function typeOf(name: string): ColumnType {
  return parseColumnType(name) as ColumnType;
}

/** Canonical text of one type as that of another; undefined: it does not fit. */
function convert(text: string | null, from: string, to: string): string | null | undefined {
  if (text === null || from === to) return text;
  const cast = castValue(typeOf(to), text);
  return cast instanceof Refusal ? undefined : cast;
}
