import type { ColumnRecord } from './table.ts';

/** A column at two versions; one side is null where the column does not exist. */
export interface ColumnPair<Column = ColumnRecord> {
  left: Column | null;
  right: Column | null;
}

/**
 * Pairs columns by id, then by name (a retyped column has a new id). In the order of the right version; dropped columns come
 * last.
 */
export function pairColumns<Column extends ColumnRecord>(left: Column[], right: Column[]): ColumnPair<Column>[] {
  const rest = new Map(left.map((column) => [column.id, column]));
  const kept = new Set(right.map((column) => column.id));
  const pairs = right.map((column): ColumnPair<Column> => {
    const isTwin = (each: Column) => each.name.toLowerCase() === column.name.toLowerCase() && !kept.has(each.id);
    const twin = rest.get(column.id) ?? [...rest.values()].find(isTwin) ?? null;
    if (twin) rest.delete(twin.id);
    return { left: twin, right: column };
  });
  return [...pairs, ...[...rest.values()].map((column) => ({ left: column, right: null }))];
}
