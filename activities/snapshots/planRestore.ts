import type pg from 'pg';
import { openLog } from '../../core/table/layers.ts';
import {
  fingerprintTable,
  mayDiffer,
  planPlace,
  planRestoredLayers,
  type TableFingerprint,
  type TablePlace,
} from '../../core/table/restore.ts';
import type { TableAt } from '../../core/table/table.ts';
import { listColumnRows } from '../../store/pg/columns.ts';
import type { Orm } from '../../store/pg/database.ts';
import type { RestoredContent } from '../../store/pg/restore.ts';
import { countLogEntries, listSnapshotTables, type SnapshotRecord, type SnapshotTable } from '../../store/pg/snapshots.ts';
import { listTables, listTablesAt, listTablesById } from '../../store/pg/tables.ts';
import { makeId } from '../../store/services.ts';

/** What a restore does to one table. */
export interface TableRestore {
  id: string;
  oldName: string;
  /** Null if the content is the same. */
  content: RestoredContent | null;
  /** Null if name, state and description are the same. */
  place: TablePlace | null;
  /** Made after the snapshot, and archived for that reason only. */
  madeLater: boolean;
}

export interface RestorePlan {
  snapshot: SnapshotRecord;
  /** Versions of the snapshot's tables by id. Views have none: they are made when they are read. */
  held: Map<string, number>;
  /** All tables as they were when the plan was made. */
  seen: TableFingerprint[];
  /** Deleted tables to be restored. */
  deletedIds: string[];
  tables: TableRestore[];
}

/** Where a plan reads from: the database, or a transaction that has locked the tables. */
export interface RestoreReader {
  orm: Orm;
  pool: pg.Pool | pg.PoolClient;
}

/** Reads everything a restore needs. Without locks, it is checked again when applied. */
export async function planRestore(reader: RestoreReader, snapshot: SnapshotRecord): Promise<RestorePlan> {
  const held = (await listSnapshotTables(reader.orm, [snapshot.id])).get(snapshot.id) ?? [];
  const live = await listTables(reader.orm, { workbookId: snapshot.workbookId });
  const ids = [...new Set([...live.map((table) => table.id), ...held.map((table) => table.tableId)])];
  const current = await listTablesById(reader.pool, ids);
  const byId = new Map(held.map((table) => [table.tableId, table]));
  const contents = await planContents(
    reader,
    current.flatMap((at) => {
      const wanted = byId.get(at.table.id);
      return wanted ? [{ at, wanted }] : [];
    }),
  );
  const tables = current.map(({ table }): TableRestore => {
    const wanted = byId.get(table.id) ?? null;
    return {
      id: table.id,
      oldName: table.name,
      content: contents.get(table.id) ?? null,
      place: planPlace(table, wanted),
      madeLater: wanted === null,
    };
  });
  const views = new Set(current.flatMap(({ table }) => (table.layer === 'view' ? [table.id] : [])));
  return {
    snapshot,
    held: new Map(held.filter(({ tableId }) => !views.has(tableId)).map(({ tableId, editVersion }) => [tableId, editVersion])),
    seen: current.map(({ table }) => fingerprintTable(table)),
    deletedIds: current.flatMap(({ table }) => (table.deletedAt === null ? [] : [table.id])),
    tables: tables.filter(({ content, place }) => content || place),
  };
}

interface WantedTable {
  at: TableAt;
  wanted: SnapshotTable;
}

/** For tables whose content may differ; reads all of them at once. */
async function planContents(reader: RestoreReader, tables: WantedTable[]): Promise<Map<string, RestoredContent>> {
  const changed = tables.filter(({ at, wanted }) => mayDiffer(at.table, wanted));
  const found = await listTablesAt(
    reader.pool,
    changed.map(({ wanted }) => ({ tableId: wanted.tableId, editVersion: wanted.editVersion })),
  );
  const oldOnes = new Map(found.map((old) => [old.table.id, old]));
  const brought = changed.flatMap(({ at, wanted }) => {
    const old = oldOnes.get(at.table.id);
    if (old?.versionUid !== wanted.versionUid)
      throw new Error(`a version that a snapshot holds is gone: ${at.table.id}@${wanted.editVersion}`);
    const layers = planRestoredLayers(at, old);
    return layers ? [{ old, layers }] : [];
  });
  const columns = await listColumnRows(reader.orm, new Map(brought.map(({ old }) => [old.table.id, old.editVersion])));
  const logged = await countLogEntries(
    reader.pool,
    brought.map(({ old, layers }) => ({ tableId: old.table.id, layers })),
  );
  return new Map(
    brought.map(({ old, layers }) => [
      old.table.id,
      {
        tableId: old.table.id,
        versionUid: makeId('ver'),
        manifestId: makeId('mft'),
        layers: [...layers, openLog],
        rowCount: old.rowCount,
        tailCount: logged.get(old.table.id) ?? 0,
        columns: columns.get(old.table.id) ?? [],
      },
    ]),
  );
}
