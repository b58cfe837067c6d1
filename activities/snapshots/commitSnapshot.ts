import { DomainError } from '../../core/errors.ts';
import { hasIdForm } from '../../core/ids/ids.ts';
import { snapshotCommitted } from '../../core/journal/snapshotNotes.ts';
import { findNameFault } from '../../core/table/nameFaults.ts';
import type { Tx } from '../../store/pg/commit.ts';
import {
  findEditingSnapshot,
  insertNamedVersion,
  insertSnapshot,
  type NamedVersion,
  type SnapshotRecord,
  type SnapshotTable,
} from '../../store/pg/snapshots.ts';
import { VersionMoved } from '../../store/pg/tableEdits.ts';
import type { VisibleWorkbook, WorkbookRecord } from '../../store/pg/workbooks.ts';

export interface CommittedSnapshot {
  snapshot: SnapshotRecord;
  tables: SnapshotTable[];
}

/** Commits the editing snapshot. Writes one row per table, so the cost does not depend on the number of rows. */
export async function commitSnapshot(
  tx: Tx,
  workbook: WorkbookRecord,
  wanted: { summary: string; eventType: string },
): Promise<CommittedSnapshot> {
  const committed = await takeSnapshot(tx, workbook, wanted);
  tx.note(workbook.id, snapshotCommitted(committed.snapshot, null, committed.tables.length));
  return committed;
}

/** Commits the current state under a label. */
export async function commitVersion(
  tx: Tx,
  workbook: VisibleWorkbook,
  wanted: { label: string; summary: string | null },
): Promise<CommittedSnapshot & { version: NamedVersion }> {
  const committed = await takeSnapshot(tx, workbook, { summary: wanted.summary ?? wanted.label, eventType: 'version' });
  const version = await insertNamedVersion(tx, { workbookId: workbook.id, ...wanted, snapshotId: committed.snapshot.id });
  if (!version)
    throw new DomainError(
      'name-taken',
      `The workbook has a version labelled ${wanted.label}.`,
      'Choose another label; versions are immutable.',
    );
  tx.note(workbook.id, snapshotCommitted(committed.snapshot, wanted.label, committed.tables.length));
  return { ...committed, version };
}

/** The label. One that looks like a snapshot id is refused, as both may be given in the same place. */
export function checkLabel(label: string): string {
  const why = findNameFault(label) ?? (hasIdForm(label, 'snp') ? 'has the form of a snapshot id' : null);
  if (why === null) return label;
  throw new DomainError('validation-failed', `The label ${why}.`, 'Choose a label that people can read.', {
    errors: [{ pointer: '/label', detail: why }],
  });
}

async function takeSnapshot(tx: Tx, workbook: WorkbookRecord, wanted: { summary: string; eventType: string }): Promise<CommittedSnapshot> {
  const editing = await findEditingSnapshot(tx.orm, workbook);
  const committed = await insertSnapshot(tx, { workbookId: workbook.id, editing, ...wanted });
  // Another commit took the editing snapshot meanwhile: retry with the next one.
  if (!committed) throw new VersionMoved();
  return committed;
}
