import { DomainError } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import type { Tx } from '../../store/pg/commit.ts';
import {
  findEditingSnapshot,
  insertNamedVersion,
  insertSnapshot,
  type NamedVersion,
  type SnapshotRecord,
  type SnapshotTable,
} from '../../store/pg/snapshots.ts';
import { VersionMoved } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId } from '../../store/services.ts';
import { dotsRefused, isDots } from '../tables/createTable.ts';

export interface CommittedSnapshot {
  snapshot: SnapshotRecord;
  tables: SnapshotTable[];
}

/** Commits the editing snapshot. The same cost for any amount of rows: a row for each table. */
export async function commitSnapshot(
  tx: Tx,
  workbook: VisibleWorkbook,
  wanted: { summary: string; eventType: string },
): Promise<CommittedSnapshot> {
  const committed = await takeSnapshot(tx, workbook, wanted);
  noteCommit(tx, workbook, committed, null);
  return committed;
}

/** Commits the current state and labels it. */
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
  noteCommit(tx, workbook, committed, wanted.label);
  return { ...committed, version };
}

/** The label as it will be kept. One that looks like a snapshot's id could not be told from it where either may be given. */
export function checkLabel(text: string): string {
  const label = text.trim();
  const why =
    label === '' ? 'must not be blank' : isId(label, 'snp') ? 'has the form of a snapshot id' : isDots(label) ? dotsRefused : null;
  if (why === null) return label;
  throw new DomainError('validation-failed', `The label ${why}.`, 'Choose a label that people can read.', {
    errors: [{ pointer: '/label', detail: why }],
  });
}

async function takeSnapshot(tx: Tx, workbook: VisibleWorkbook, wanted: { summary: string; eventType: string }): Promise<CommittedSnapshot> {
  const editing = await findEditingSnapshot(tx.orm, workbook);
  const committed = await insertSnapshot(tx, { workbookId: workbook.id, editing, ...wanted });
  // Another commit took the editing snapshot meanwhile: this one commits the next.
  if (!committed) throw new VersionMoved();
  return committed;
}

function noteCommit(tx: Tx, workbook: VisibleWorkbook, { snapshot, tables }: CommittedSnapshot, label: string | null): void {
  const kind = label === null ? 'snapshot.commit' : 'version.commit';
  tx.note(workbook.id, {
    ops: [{ kind, codeRef: snapshot.id }],
    audit: [{ action: kind, target: label ?? snapshot.id, detail: { snapshot_id: snapshot.id, tables: tables.length } }],
    events: [
      {
        id: makeId('evt'),
        type: 'snapshot.committed',
        data: { snapshot_id: snapshot.id, label, event_type: snapshot.eventType, tables: tables.length },
      },
    ],
    usage: [{ kind: 'op', amount: 1 }],
  });
}
