import { cellJson } from '../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { rowIdField, type VisibleColumn, type VisibleTable } from '../../core/table/visibleTable.ts';
import { isWide } from '../duckdb/wide.ts';

/** Columns of a table in the order in which somebody wants them; the row's id may be among them. */
export interface Projection {
  visible: VisibleTable;
  columns: VisibleColumn[];
}

/** Of a wide table only the columns with these names, of others all: what an engine is not asked for, it need not plan. */
export function keepNamed(visible: VisibleTable, names: Iterable<string>): VisibleTable {
  if (!isWide(visible.columns)) return visible;
  const kept = new Set([...names].map((name) => name.toLowerCase()));
  return { ...visible, columns: visible.columns.filter(({ name }) => kept.has(name.toLowerCase())) };
}

/** A cell of every row of a projection, and how it is written where rows are read without an engine. */
export interface ShownCell {
  column: VisibleColumn;
  /** The name as a key of JSON. */
  key: string;
  /** Null where nothing is read: a masked column, or the row's id. */
  type: ColumnType | null;
  isRowId: boolean;
  /** As the engine writes it. */
  write(text: string | null): string;
}

/** The cells, and those of their columns that are read from storage. */
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
