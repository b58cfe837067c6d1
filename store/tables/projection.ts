import { cellJson } from '../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { rowIdField, type VisibleColumn, type VisibleTable } from '../../core/table/visibleTable.ts';
import { isWide } from '../duckdb/wide.ts';

/** Columns of a table in the requested order; the row id may be among them. */
export interface Projection {
  visible: VisibleTable;
  columns: VisibleColumn[];
}

/** Limits wide tables to the columns with these names, so that DuckDB need not plan the others. */
export function keepNamed(visible: VisibleTable, names: Iterable<string>): VisibleTable {
  if (!isWide(visible.columns)) return visible;
  const kept = new Set([...names].map((name) => name.toLowerCase()));
  return { ...visible, columns: visible.columns.filter(({ name }) => kept.has(name.toLowerCase())) };
}

/** How the cells of a column are written when rows are read without DuckDB. */
export interface ShownCell {
  column: VisibleColumn;
  /** The name as a JSON string. */
  key: string;
  /** Null: nothing is read, for a masked column or the row id. */
  type: ColumnType | null;
  isRowId: boolean;
  /** Must give the same text as DuckDB's JSON. */
  write(text: string | null): string;
}

/** `stored` are the columns that must be read from storage. */
export function describeCells(columns: VisibleColumn[]): { cells: ShownCell[]; stored: VisibleColumn[] } {
  const cells = columns.map((column): ShownCell => {
    const isRowId = column.id === rowIdField.id;
    const type = isRowId || column.masked ? null : (parseColumnType(column.type) as ColumnType);
    return {
      column,
      key: JSON.stringify(column.name),
      type,
      isRowId,
      write: type ? (text) => cellJson(type, text) : (text) => text ?? 'null',
    };
  });
  return { cells, stored: cells.flatMap(({ column, type }) => (type ? [column] : [])) };
}
