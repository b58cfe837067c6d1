import type pg from 'pg';
import { newVersion, type PlannedLayer } from '../../schema/tables.ts';
import type { Orm } from '../../store/pg/database.ts';
import type { RestoredContent, TableMark, TablePlace } from '../../store/pg/restore.ts';
import { countLogged, listColumnRows, listSnapshotTables, type SnapshotRecord, type SnapshotTable } from '../../store/pg/snapshots.ts';
import { findTableAt, listTables, listTablesById, type TableAt } from '../../store/pg/tables.ts';
import { makeId } from '../../store/services.ts';
import { closeLog } from '../rows/largeEdit.ts';

/** What a restore does to one table. */
export interface TableRestore {
  id: string;
  oldName: string;
  /** A new version, if the content differs. */
  content: RestoredContent | null;
  /** Where it goes, if name, state or description differ. */
  place: TablePlace | null;
  /** It was made after the snapshot: archived, because of that alone. */
  madeLater: boolean;
}

export interface RestorePlan {
  snapshot: SnapshotRecord;
  /** All tables that the plan was made over, as they were read. */
  seen: TableMark[];
  /** Deleted tables that come back. */
  deletedIds: string[];
  tables: TableRestore[];
}

/** What a plan is read from: the database, or a transaction that holds the tables. */
export interface RestoreReader {
  orm: Orm;
  pool: pg.Pool | pg.PoolClient;
}

/** Everything that is read for a restore. Where nothing is locked yet, it is checked again when it is applied. */
export async function planRestore(reader: RestoreReader, snapshot: SnapshotRecord): Promise<RestorePlan> {
  const held = (await listSnapshotTables(reader.orm, [snapshot.id])).get(snapshot.id) ?? [];
  const live = await listTables(reader.orm, { workbookId: snapshot.workbookId });
  const ids = [...new Set([...live.map((table) => table.id), ...held.map((table) => table.tableId)])];
  const current = await listTablesById(reader.pool, ids);
  const byId = new Map(held.map((table) => [table.tableId, table]));
  const tables: TableRestore[] = [];
  for (const at of current) {
    const wanted = byId.get(at.table.id);
    const planned = wanted ? await planTable(reader, at, wanted) : planLater(at);
    if (planned.content || planned.place) tables.push(planned);
  }
  return {
    snapshot,
    seen: current.map(({ table }) => ({
      id: table.id,
      editVersion: table.editVersion,
      name: table.name,
      state: table.state,
      deleted: table.deletedAt !== null,
    })),
    deletedIds: current.flatMap(({ table }) => (table.deletedAt === null ? [] : [table.id])),
    tables,
  };
}

function planLater({ table }: TableAt): TableRestore {
  const place = table.state === 'archived' ? null : { name: table.name, state: 'archived' as const, description: table.description };
  return { id: table.id, oldName: table.name, content: null, place, madeLater: true };
}

async function planTable(reader: RestoreReader, at: TableAt, wanted: SnapshotTable): Promise<TableRestore> {
  const { table } = at;
  const inPlace =
    table.deletedAt === null && table.name === wanted.name && table.state === wanted.state && table.description === wanted.description;
  return {
    id: table.id,
    oldName: table.name,
    content: await planContent(reader, at, wanted),
    place: inPlace ? null : { name: wanted.name, state: wanted.state, description: wanted.description },
    madeLater: false,
  };
}

/** Null when the content is what it was. A table that was deleted comes back with a version of its own. */
async function planContent(reader: RestoreReader, at: TableAt, wanted: SnapshotTable): Promise<RestoredContent | null> {
  const { table } = at;
  // Derived tables are computed from the others, not brought back.
  if (table.layer !== 'base') return null;
  if (table.deletedAt === null && table.versionUid === wanted.versionUid) return null;
  const old = await findTableAt(reader.pool, table, wanted.editVersion);
  if (old?.versionUid !== wanted.versionUid) throw new Error(`a version that a snapshot holds is gone: ${table.id}@${wanted.editVersion}`);
  const columns = await listColumnRows(reader.orm, table.id, wanted.editVersion);
  const layers = closeLog(old);
  // Restored before, and not edited since: the same layers under the same columns are the same content.
  if (table.deletedAt === null && same(layers, closeLog(at)) && same(contentOf(old), contentOf(at))) return null;
  const open: PlannedLayer = { kind: 'log', after: newVersion, upTo: null };
  return {
    tableId: table.id,
    versionUid: makeId('ver'),
    manifestId: makeId('mft'),
    layers: [...layers, open],
    rowCount: old.rowCount,
    tailCount: await countLogged(reader.pool, table.id, layers),
    columns,
  };
}

const contentOf = (at: TableAt) => at.columns.map(({ id, name, type, defaultText }) => [id, name, type, defaultText]);

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
