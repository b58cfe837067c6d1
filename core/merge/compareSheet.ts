import type { ColumnType } from '../cells/columnTypes.ts';
import { type ByteBatch, type ByteColumn, isNull, readByteText, readRowIds } from '../table/textBatch.ts';
import type { CellValue } from '../types/infer.ts';
import { readFileCell } from './fileCell.ts';
import type { ReturnedRow } from './packedRow.ts';
import type { FileEdit, FileRow } from './planMerge.ts';
import { sameAsExcel } from './sameAsExcel.ts';
import type { SheetCells } from './sheetCells.ts';

export interface ComparedColumn {
  /** In the sheet, from 0. */
  place: number;
  type: ColumnType;
  /** Its place among the columns of the export. */
  base: number;
}

export interface ComparedSheet {
  cells: SheetCells;
  /** A text file, whose cells have no kind. */
  isLoose: boolean;
  /** The place of the row ids. */
  rowId: number;
  columns: ComparedColumn[];
}

/**
 * Compares a sheet that came back with the rows of the export, and gives those rows that differ. Most cells hold the very text or
 * number that was exported, so only the others are read for the type of their column.
 */
export class SheetComparison {
  /** Rows of the file that nobody edited. */
  unchanged = 0;
  /** By row id, the first cell of each row that no row of the export was compared with yet. */
  private readonly rows = new Map<number, number>();
  /** By place in the sheet, from 1. */
  private readonly columnAt: Int32Array;
  /** The cell of each column in the row that is being compared; -1 where it is blank. */
  private readonly cellAt: Int32Array;

  constructor(private readonly sheet: ComparedSheet) {
    this.columnAt = new Int32Array(Math.max(0, ...sheet.columns.map(({ place }) => place)) + 2).fill(-1);
    for (const [i, { place }] of sheet.columns.entries()) this.columnAt[place + 1] = i;
    this.cellAt = new Int32Array(sheet.columns.length);
  }

  /** Rows whose row id tells nothing: added ones, and faulty ones. It comes first. */
  *compareAdded(): Generator<ReturnedRow> {
    const { cells } = this.sheet;
    for (let from = 0, to = 0; from < cells.size; from = to) {
      const place = cells.rows[from];
      let rowId: FileRow['rowId'] = null;
      for (to = from; to < cells.size && cells.rows[to] === place; to += 1)
        if (cells.columns[to] === this.sheet.rowId + 1) rowId = cells.readWhole(to) ?? readRowId(cells.readValue(to));
      if (place === 1) continue;
      const twin = typeof rowId === 'number' ? this.rows.get(rowId) : undefined;
      if (typeof rowId === 'number' && twin === undefined) this.rows.set(rowId, from);
      else {
        const file = this.describeRow(from, rowId, null, 0);
        if (twin !== undefined) file.twin = cells.rows[twin] as number;
        if (rowId !== null || file.edits.length > 0) yield { rowId, base: null, file };
      }
    }
  }

  /** Rows of the export, with the row ids as the last column. */
  *compareBatch(batch: ByteBatch): Generator<ReturnedRow> {
    const exported = batch.columns.slice(0, -1);
    for (const [i, rowId] of readRowIds(batch).entries()) {
      const from = this.rows.get(rowId);
      const file = from === undefined ? null : this.describeRow(from, rowId, batch, i);
      this.rows.delete(rowId);
      if (file?.edits.length === 0) this.unchanged += 1;
      else yield { rowId, base: exported.map((column) => readByteText(column, i)), file };
    }
  }

  /** Rows with ids that the export does not have. It comes last. */
  *compareRest(): Generator<ReturnedRow> {
    for (const [rowId, from] of this.rows) yield { rowId, base: null, file: this.describeRow(from, rowId, null, 0) };
  }

  private describeRow(from: number, rowId: FileRow['rowId'], base: ByteBatch | null, row: number): FileRow {
    const { cells, columns } = this.sheet;
    const place = cells.rows[from] as number;
    this.cellAt.fill(-1);
    for (let i = from; i < cells.size && cells.rows[i] === place; i += 1) {
      const column = this.columnAt[cells.columns[i] as number] ?? -1;
      if (column >= 0) this.cellAt[column] = i;
    }
    const edits: FileEdit[] = [];
    for (let i = 0; i < columns.length; i += 1) {
      const edit = this.findEdit(i, base?.columns[columns[i]?.base ?? -1], row);
      if (edit) edits.push(edit);
    }
    return { place, rowId, edits };
  }

  private findEdit(column: number, base: ByteColumn | undefined, row: number): FileEdit | null {
    const { cells, columns, isLoose } = this.sheet;
    const { type } = columns[column] as ComparedColumn;
    const i = this.cellAt[column] as number;
    if (base && (i < 0 ? isNull(base, row) : cells.holds(i, type, base, row))) return null;
    const cell = i < 0 ? null : readFileCell(type, cells.readValue(i), isLoose);
    return sameAsExcel(type, base ? readByteText(base, row) : null, cell) ? null : { column, cell };
  }
}

/** A name, or a row id, whatever a program made of it. */
export function showHeader(value: CellValue): string {
  if (value.kind === 'number') return String(value.number);
  if (value.kind === 'boolean') return String(value.boolean).toUpperCase();
  return value.kind === 'date' ? value.iso : value.text;
}

function readRowId(value: CellValue): number | string | null {
  const text = showHeader(value).trim();
  if (text === '') return null;
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text.slice(0, 40);
}
