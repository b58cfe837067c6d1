import { closeLog } from './layers.ts';
import type { Layer, TableAt, TableRecord } from './table.ts';

/** A table as a snapshot holds it. */
export interface HeldTable {
  tableId: string;
  editVersion: number;
  versionUid: string;
  name: string;
  state: 'active' | 'archived';
  description: string | null;
}

/** Where a table stands in its workbook. */
export type TablePlace = Pick<HeldTable, 'name' | 'state' | 'description'>;

/** Where a table goes, or null when it stands there already. Without `held` it was made after the snapshot, and is archived. */
export function planPlace(table: TableRecord, held: HeldTable | null): TablePlace | null {
  const { name, state, description } = held ?? { ...table, state: 'archived' as const };
  const isThere =
    (table.deletedAt === null || held === null) && table.name === name && table.state === state && table.description === description;
  return isThere ? null : { name, state, description };
}

/**
 * Whether the content of a table may be another than the snapshot's. Derived tables are computed from the others, not
 * brought back. A table that was deleted comes back with a version of its own.
 */
export function mayDiffer(table: TableRecord, held: HeldTable): boolean {
  return table.layer === 'base' && (table.deletedAt !== null || table.versionUid !== held.versionUid);
}

/** The layers that bring the content of an old version of a table back; null when it has that content. */
export function planRestoredLayers(current: TableAt, old: TableAt): Layer[] | null {
  const layers = closeLog(old);
  // Restored before, and not edited since: the same layers under the same columns are the same content.
  const isSame =
    current.table.deletedAt === null && same(layers, closeLog(current)) && same(describeColumns(old), describeColumns(current));
  return isSame ? null : layers;
}

const describeColumns = (at: TableAt) => at.columns.map(({ id, name, type, defaultText }) => [id, name, type, defaultText]);

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What a restore needs to know of a table to be sure that nothing moved since it was planned. */
export interface TableMark {
  id: string;
  editVersion: number;
  name: string;
  state: 'active' | 'archived';
  deleted: boolean;
}

export function markTable({ id, editVersion, name, state, deletedAt }: TableRecord): TableMark {
  return { id, editVersion, name, state, deleted: deletedAt !== null };
}

/** Whether the same tables stand where they stood, in any order. */
export function haveSameMarks(a: TableMark[], b: TableMark[]): boolean {
  const sorted = (marks: TableMark[]) =>
    marks.map(({ id, editVersion, name, state, deleted }) => JSON.stringify([id, editVersion, name, state, deleted])).sort();
  return same(sorted(a), sorted(b));
}
