import type { ColumnRecord } from './table.ts';

/** A column at two versions, or at one of them. */
export interface ColumnPair<Column = ColumnRecord> {
  left: Column | null;
  right: Column | null;
}

/** The same id is the same column; beyond that the same name is, as after a retype. Those of the right come first, in order. */
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
