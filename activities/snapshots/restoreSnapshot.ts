import { DomainError, notFound } from '../../core/errors.ts';
import type { RestoreInput } from '../../core/jobs/restoreJobs.ts';
import { type RestoredTable, snapshotRestored } from '../../core/journal/snapshotNotes.ts';
import { haveSameFingerprints, type TablePlace } from '../../core/table/restore.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { freeTableNames, lockTables, placeTable, restoreTable } from '../../store/pg/restore.ts';
import { findEditingSnapshot, findNamedVersion, findSnapshot, type SnapshotRecord } from '../../store/pg/snapshots.ts';
import { restoreLandings } from '../../store/pg/sources.ts';
import { VersionMoved } from '../../store/pg/tableEdits.ts';
import { lockGraph } from '../../store/pg/transforms.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { planRestore, type RestorePlan } from './planRestore.ts';
import { settleDerived } from './settleDerived.ts';

export type Restored = RestoreInput;

/** A snapshot that can be restored: committed, not the editing one. */
export async function requireCommitted(services: Services, workbook: VisibleWorkbook, id: string): Promise<SnapshotRecord> {
  const snapshot = await findSnapshot(services.db.orm, workbook.id, id);
  if (snapshot) return snapshot;
  const editing = await findEditingSnapshot(services.db.orm, workbook);
  if (editing.id === id)
    throw new DomainError('in-use', 'The snapshot is still being edited.', 'Commit it first, or restore a committed one.');
  throw notFound('snapshot in this workbook', 'GET …/snapshots lists the snapshots of the workbook.');
}

export async function requireVersion(services: Services, workbook: VisibleWorkbook, label: string) {
  const version = await findNamedVersion(services.db.orm, workbook.id, label);
  if (!version) throw notFound('version in this workbook', 'GET …/versions lists the versions of the workbook.');
  const snapshot = await findSnapshot(services.db.orm, workbook.id, version.snapshotId);
  return { version, snapshot: snapshot as SnapshotRecord };
}

/**
 * Restores the whole workbook or nothing. Locks the tables by ascending id; if they have changed since the plan, plans again
 * under the locks, as otherwise frequent edits could prevent a restore forever. Later edits continue from the new versions.
 */
export async function restoreSnapshot(tx: Tx, workbook: VisibleWorkbook, early: RestorePlan, label: string | null): Promise<Restored> {
  await lockGraph(tx, workbook.id);
  const locked = await lockTables(tx, workbook.id, early.deletedIds);
  const plan = haveSameFingerprints(locked, early.seen) ? early : await planRestore({ orm: tx.orm, pool: tx.client }, early.snapshot);
  // A table was created or deleted just now, so it is not locked.
  if (!haveSameFingerprints(locked, plan.seen)) throw new VersionMoved();
  await freeTableNames(
    tx,
    plan.tables.flatMap((table) => (table.place ? [table.id] : [])),
  );
  const versions = new Map<string, number>();
  for (const { id, content, place } of plan.tables) {
    if (content) {
      const version = await restoreTable(tx, content);
      await restoreLandings(tx, id, plan.held.get(id) ?? 0, version);
      versions.set(id, version);
    }
    if (place) await placeOrRetry(tx, id, place);
  }
  await settleDerived(tx, workbook, plan, versions);
  tx.note(workbook.id, snapshotRestored(plan.snapshot.id, label, listRestored(plan, versions)));
  return {
    snapshotId: (await findEditingSnapshot(tx.orm, workbook)).id,
    restored: plan.tables.flatMap(({ id, oldName, content, place }) =>
      content ? [{ name: place?.name ?? oldName, editVersion: versions.get(id) ?? 0, rowCount: content.rowCount }] : [],
    ),
    archived: plan.tables.flatMap(({ madeLater, oldName }) => (madeLater ? [oldName] : [])),
  };
}

/** The names in a snapshot are unique, but a table created just now may have one of them. */
async function placeOrRetry(tx: Tx, id: string, place: TablePlace): Promise<void> {
  try {
    await placeTable(tx, id, place);
  } catch (error) {
    if (brokenConstraint(error) === 'tables_name') throw new VersionMoved();
    throw error;
  }
}

function listRestored(plan: RestorePlan, versions: Map<string, number>): RestoredTable[] {
  return plan.tables.map(({ id, oldName, place, madeLater }) => ({
    id,
    name: place?.name ?? oldName,
    editVersion: versions.get(id) ?? plan.seen.find((mark) => mark.id === id)?.editVersion ?? 0,
    isNewVersion: versions.has(id),
    state: place?.state,
    madeLater,
  }));
}
