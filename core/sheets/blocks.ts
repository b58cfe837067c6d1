import { findColumn } from '../table/findColumn.ts';

/** A table that a block shows. Found by id; where that table is gone, the active one that has its name now. */
export interface TableRef {
  id: string;
  name: string;
}

/** A column that a block shows. Found by id, in another table of the same name by name. */
export interface ColumnRef {
  id: number;
  name: string;
}

export interface TableView {
  kind: 'table_view';
  table: TableRef;
  /** Null: all columns that the reader may see. */
  columns: ColumnRef[] | null;
  /** Rows, at most. */
  limit: number | null;
  title: string | null;
}

/** A block of a sheet; blocks stand one below the other. */
export type StoredBlock =
  | { kind: 'heading'; text: string; level: number }
  | { kind: 'text'; text: string }
  | { kind: 'spacer'; rows: number }
  | TableView;

/** The tables that blocks refer to, each once. */
export function listTableRefs(blocks: StoredBlock[]): TableRef[] {
  return [...new Map(blocks.flatMap((block) => (block.kind === 'table_view' ? [[block.table.id, block.table]] : []))).values()];
}

/** Which of the tables that are active now a block shows; null: it is gone or archived. */
export function findReferred<Found extends { table: { id: string; name: string } }>(tables: Found[], ref: TableRef): Found | null {
  const key = ref.name.toLowerCase();
  return tables.find(({ table }) => table.id === ref.id) ?? tables.find(({ table }) => table.name.toLowerCase() === key) ?? null;
}

/** The columns that a block shows, out of those that the reader may see. Columns that are gone are left out. */
export function chooseColumns<Column extends ColumnRef>(view: TableView, tableId: string, columns: Column[]): Column[] {
  if (view.columns === null) return columns;
  const chosen = view.columns.flatMap((ref): Column[] => {
    const byId = tableId === view.table.id ? columns.find(({ id }) => id === ref.id) : undefined;
    const found = byId ?? findColumn(columns, ref.name);
    return found ? [found] : [];
  });
  return [...new Set(chosen)];
}

/** Each line of a text stands in a row of its own. */
export function splitLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

/** The rows that a block takes beside those of its table. */
export function countFixedRows(block: StoredBlock): number {
  switch (block.kind) {
    case 'heading':
    case 'text':
      return splitLines(block.text).length;
    case 'spacer':
      return block.rows;
    case 'table_view':
      return block.title === null ? 1 : 2;
  }
}
