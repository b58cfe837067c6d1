import type { Cells, ColumnRecord } from './table.ts';

/** Rows written before a column was added have its default; an explicit null stays null. */
export function readCell(cells: Cells, { id, defaultText }: Pick<ColumnRecord, 'id' | 'defaultText'>): string | null {
  return id in cells ? (cells[id] ?? null) : defaultText;
}

/** The whole row, with exactly these columns. */
export function fillDefaults(columns: ColumnRecord[], cells: Cells): Cells {
  const filled: Cells = {};
  for (const column of columns) filled[column.id] = readCell(cells, column);
  return filled;
}
