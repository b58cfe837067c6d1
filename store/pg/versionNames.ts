import { and, eq } from 'drizzle-orm';
import { namedVersions, snapshots, snapshotTables } from '../../schema/index.ts';
import type { Orm } from './database.ts';

/** The version of a table that a snapshot holds; undefined: no such snapshot, null: the table is not in it. */
export async function findVersionInSnapshot(
  orm: Orm,
  workbookId: string,
  snapshotId: string,
  tableId: string,
): Promise<number | null | undefined> {
  const [row] = await orm
    .select({ editVersion: snapshotTables.editVersion })
    .from(snapshots)
    .leftJoin(snapshotTables, and(eq(snapshotTables.snapshotId, snapshots.id), eq(snapshotTables.tableId, tableId)))
    .where(and(eq(snapshots.id, snapshotId), eq(snapshots.workbookId, workbookId)));
  return row === undefined ? undefined : row.editVersion;
}

export async function findLabelledSnapshot(orm: Orm, workbookId: string, label: string): Promise<string | null> {
  const [row] = await orm
    .select({ snapshotId: namedVersions.snapshotId })
    .from(namedVersions)
    .where(and(eq(namedVersions.workbookId, workbookId), eq(namedVersions.label, label.trim())));
  return row?.snapshotId ?? null;
}
