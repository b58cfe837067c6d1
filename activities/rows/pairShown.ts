import { pairColumns } from '../../core/table/pairColumns.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { RelationColumn } from '../../store/duckdb/relation.ts';

/** A column at two versions, or at one of them, as the caller sees it. */
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
