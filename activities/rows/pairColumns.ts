import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import type { RelationColumn } from '../../store/duckdb/relation.ts';

/** A column at two versions, or at one of them. */
export interface ColumnPair {
  left: ColumnRecord | null;
  right: ColumnRecord | null;
}

/** The same id is the same column; beyond that the same name is, as after a retype. Those of the right come first, in order. */
export function pairColumns(left: ColumnRecord[], right: ColumnRecord[]): ColumnPair[] {
  const rest = new Map(left.map((column) => [column.id, column]));
  const kept = new Set(right.map((column) => column.id));
  const pairs = right.map((column): ColumnPair => {
    const isTwin = (each: ColumnRecord) => each.name.toLowerCase() === column.name.toLowerCase() && !kept.has(each.id);
    const twin = rest.get(column.id) ?? [...rest.values()].find(isTwin) ?? null;
    if (twin) rest.delete(twin.id);
    return { left: twin, right: column };
  });
  return [...pairs, ...[...rest.values()].map((column) => ({ left: column, right: null }))];
}

/** The same, as the caller sees the columns. */
export interface ShownPair {
  left: RelationColumn | null;
  right: RelationColumn | null;
}

export function pairShown(from: TableAt, to: TableAt, left: RelationColumn[], right: RelationColumn[]): ShownPair[] {
  const byName = (columns: RelationColumn[]) => new Map(columns.slice(0, -1).map((column) => [column.name, column]));
  const [shownLeft, shownRight] = [byName(left), byName(right)];
  const pairs = pairColumns(from.columns, to.columns).map((pair) => ({
    left: (pair.left && shownLeft.get(pair.left.name)) ?? null,
    right: (pair.right && shownRight.get(pair.right.name)) ?? null,
  }));
  // Hidden from the caller on one side and so on both: a tag outlives its column.
  return pairs.filter(({ left: a, right: b }) => a !== null || b !== null);
}
