import { DomainError, notFound } from '../../core/errors.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { lockTables, parkTables, placeTable, restoreTable, type TableMark } from '../../store/pg/restore.ts';
import { findEditingSnapshot, findNamedVersion, findSnapshot, type SnapshotRecord } from '../../store/pg/snapshots.ts';
import { VersionMoved } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId, type Services } from '../../store/services.ts';
import { planRestore, type RestorePlan, type TableRestore } from './planRestore.ts';

export interface Restored {
  /** The editing snapshot: the restored state lies in it. */
  snapshotId: string;
  restored: { name: string; editVersion: number; rowCount: number }[];
  archived: string[];
}

/** A snapshot that can be restored: the editing one is there, but it is not the past. */
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
 * Brings the workbook back to a snapshot, all of it or nothing. The tables are locked in ascending id; where they do not
 * stand any more where the plan saw them, it is made again while nobody can change them: else a restore would never come
 * to its end while a table is edited all the time. Edits that come after go on counting from the new versions.
 */
export async function restoreSnapshot(tx: Tx, workbook: VisibleWorkbook, early: RestorePlan, label: string | null): Promise<Restored> {
  const locked = await lockTables(tx, workbook.id, early.deletedIds);
  const plan = sameMarks(locked, early.seen) ? early : await planRestore({ orm: tx.orm, pool: tx.client }, early.snapshot);
  // A table was made or deleted just now, and is not locked.
  if (!sameMarks(locked, plan.seen)) throw new VersionMoved();
  await parkTables(
    tx,
    plan.tables.flatMap((table) => (table.place ? [table.id] : [])),
  );
  const versions = new Map<string, number>();
  for (const { id, content, place } of plan.tables) {
    if (content) versions.set(id, await restoreTable(tx, content));
    if (place) await placeOrRetry(tx, id, place);
  }
  noteRestore(tx, workbook, plan, versions, label);
  return {
    snapshotId: (await findEditingSnapshot(tx.orm, workbook)).id,
    restored: plan.tables.flatMap(({ id, oldName, content, place }) =>
      content ? [{ name: place?.name ?? oldName, editVersion: versions.get(id) ?? 0, rowCount: content.rowCount }] : [],
    ),
    archived: plan.tables.flatMap(({ madeLater, oldName }) => (madeLater ? [oldName] : [])),
  };
}

/** The names of a snapshot never clash among themselves; with a table that was made just now they may. */
async function placeOrRetry(tx: Tx, id: string, place: NonNullable<TableRestore['place']>): Promise<void> {
  try {
    await placeTable(tx, id, place);
  } catch (error) {
    if (brokenConstraint(error) === 'tables_name') throw new VersionMoved();
    throw error;
  }
}

function sameMarks(a: TableMark[], b: TableMark[]): boolean {
  const text = (marks: TableMark[]) =>
    JSON.stringify(marks.map(({ id, editVersion, name, state, deleted }) => [id, editVersion, name, state, deleted]).sort());
  return text(a) === text(b);
}

function noteRestore(tx: Tx, workbook: VisibleWorkbook, plan: RestorePlan, versions: Map<string, number>, label: string | null): void {
  const kind = label === null ? 'snapshot.restore' : 'version.revert';
  const { snapshot } = plan;
  const named = plan.tables.map((table) => ({ ...table, name: table.place?.name ?? table.oldName, editVersion: versions.get(table.id) }));
  tx.note(workbook.id, {
    ops: [
      { kind, codeRef: snapshot.id },
      ...named.flatMap(({ id, name, editVersion }) =>
        editVersion === undefined ? [] : [{ kind, tableId: id, tableName: name, editVersion, codeRef: snapshot.id }],
      ),
    ],
    audit: [
      {
        action: kind,
        target: label ?? snapshot.id,
        detail: {
          snapshot_id: snapshot.id,
          restored: named.flatMap(({ name, editVersion }) => (editVersion === undefined ? [] : [{ name, edit_version: editVersion }])),
          archived: named.flatMap(({ madeLater, name }) => (madeLater ? [name] : [])),
        },
      },
    ],
    events: named.map(({ name, editVersion, id, place }) => ({
      id: makeId('evt'),
      type: 'artifact.updated',
      data: {
        name,
        edit_version: editVersion ?? plan.seen.find((mark) => mark.id === id)?.editVersion ?? 0,
        ...(place ? { state: place.state } : {}),
      },
    })),
    usage: [{ kind: 'op', amount: 1 }],
  });
}
