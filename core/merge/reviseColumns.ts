import { pairColumns } from '../table/pairColumns.ts';
import type { ColumnRecord } from '../table/table.ts';

/** A column of a table whose file was revised, on its three sides; null where it does not exist. */
export interface RevisedColumn {
  /** As it will be. */
  column: ColumnRecord;
  /** In the file as it was. */
  base: ColumnRecord | null;
  /** In the table, with what people changed. */
  current: ColumnRecord | null;
  /** In the new file. */
  next: ColumnRecord | null;
}

export interface RevisedColumns {
  columns: RevisedColumn[];
  /** Columns that the new file does not have any more. */
  ended: { base: ColumnRecord; current: ColumnRecord }[];
}

/**
 * The columns of the new file, under the names that people gave them, and then those that people added. A column that somebody
 * dropped stays away. Ids from `nextId` on are free.
 */
export function reviseColumns(base: ColumnRecord[], current: ColumnRecord[], next: ColumnRecord[], nextId: number): RevisedColumns {
  const pairs = pairColumns(base, current);
  const ofBase = new Map(pairs.flatMap(({ left, right }) => (left ? [[left.id, right] as const] : [])));
  const ofCurrent = new Map(pairs.flatMap(({ left, right }) => (right ? [[right.id, left] as const] : [])));
  const columns: RevisedColumn[] = [];
  for (const column of next) {
    const found = findBefore(column);
    // Somebody dropped it.
    if (found.base && !found.current) continue;
    const renamed = found.base && found.current && found.current.name !== found.base.name ? found.current.name : null;
    const name = renamed !== null && !findName(next, renamed) ? renamed : column.name;
    columns.push({ ...found, column: { ...column, name, description: found.current?.description ?? null }, next: column });
  }
  const known = new Set(columns.map((each) => each.current?.id));
  const ids = new Set(next.map(({ id }) => id));
  let free = Math.max(nextId, ...[...ids].map((id) => id + 1));
  for (const { left, right } of pairs)
    if (!left && right && !known.has(right.id)) {
      const id = ids.has(right.id) ? free++ : right.id;
      columns.push({ column: { ...right, id }, base: null, current: right, next: null });
    }
  const ended = pairs.flatMap(({ left, right }) => (left && right && !known.has(right.id) ? [{ base: left, current: right }] : []));
  return { columns, ended };

  function findBefore({ name }: ColumnRecord): Pick<RevisedColumn, 'base' | 'current'> {
    const same = findName(base, name);
    if (same) return { base: same, current: ofBase.get(same.id) ?? null };
    const named = findName(current, name);
    const before = named ? (ofCurrent.get(named.id) ?? null) : null;
    // The file renamed the column as people did, or has one now that people had added.
    return named && !(before && findName(next, before.name)) ? { base: before, current: named } : { base: null, current: null };
  }
}

function findName(columns: ColumnRecord[], name: string): ColumnRecord | null {
  return columns.find((column) => column.name.toLowerCase() === name.toLowerCase()) ?? null;
}
