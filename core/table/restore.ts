import { closeLog } from './layers.ts';
import type { Layer, TableAt, TableRecord } from './table.ts';

/** A table as recorded in a snapshot. */
export interface HeldTable {
  tableId: string;
  editVersion: number;
  versionUid: string;
  name: string;
  state: 'active' | 'archived';
  description: string | null;
}

/** How a table is listed in its workbook. */
export type TablePlace = Pick<HeldTable, 'name' | 'state' | 'description'>;

/** The place a table gets back, or null if nothing changes. Without `held` it was made after the snapshot and is archived. */
export function planPlace(table: TableRecord, held: HeldTable | null): TablePlace | null {
  const { name, state, description } = held ?? { ...table, state: 'archived' as const };
  const isThere =
    (table.deletedAt === null || held === null) && table.name === name && table.state === state && table.description === description;
  return isThere ? null : { name, state, description };
}

/** Whether the content may differ from the snapshot's. Views are made when they are read. A deleted table gets a new version. */
export function mayDiffer(table: TableRecord, held: HeldTable): boolean {
  return table.layer !== 'view' && (table.deletedAt !== null || table.versionUid !== held.versionUid);
}

/** The layers that restore the content of an old version; null if the table has that content. */
export function planRestoredLayers(current: TableAt, old: TableAt): Layer[] | null {
  const layers = closeLog(old);
  // The same layers and columns mean the same content, such as after an earlier restore.
  const isSame =
    current.table.deletedAt === null && same(layers, closeLog(current)) && same(describeColumns(old), describeColumns(current));
  return isSame ? null : layers;
}

const describeColumns = (at: TableAt) => at.columns.map(({ id, name, type, defaultText }) => [id, name, type, defaultText]);

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What must not change between the planning of a restore and its commit. */
export interface TableFingerprint {
  id: string;
  editVersion: number;
  name: string;
  state: 'active' | 'archived';
  deleted: boolean;
}

export function fingerprintTable({ id, editVersion, name, state, deletedAt }: TableRecord): TableFingerprint {
  return { id, editVersion, name, state, deleted: deletedAt !== null };
}

/** Whether no table changed; the order does not matter. */
export function haveSameFingerprints(a: TableFingerprint[], b: TableFingerprint[]): boolean {
  const sorted = (tables: TableFingerprint[]) =>
    tables.map(({ id, editVersion, name, state, deleted }) => JSON.stringify([id, editVersion, name, state, deleted])).sort();
  return same(sorted(a), sorted(b));
}
