import { audited, type Notes, oneOp } from './notes.ts';
import { artifactUpdated, opOn, type TableState } from './tableNotes.ts';

/** A version is a snapshot with a label. */
export function snapshotCommitted(snapshot: { id: string; eventType: string }, label: string | null, tables: number): Notes {
  const kind = label === null ? 'snapshot.commit' : 'version.commit';
  return {
    ops: [{ kind, codeRef: snapshot.id }],
    ...audited(kind, label ?? snapshot.id, { snapshot_id: snapshot.id, tables }),
    events: [{ type: 'snapshot.committed', data: { snapshot_id: snapshot.id, label, event_type: snapshot.eventType, tables } }],
    usage: oneOp,
  };
}

/** A table that a restore changed, in its new state. */
export interface RestoredTable {
  id: string;
  name: string;
  editVersion: number;
  isNewVersion: boolean;
  /** Set when the table was archived or made active again. */
  state?: TableState;
  /** The table was made after the snapshot and was archived for that reason. */
  madeLater: boolean;
}

export function snapshotRestored(snapshotId: string, label: string | null, tables: RestoredTable[]): Notes {
  const kind = label === null ? 'snapshot.restore' : 'version.revert';
  const changed = tables.filter((table) => table.isNewVersion);
  return {
    ops: [{ kind, codeRef: snapshotId }, ...changed.map((table) => opOn(kind, table, table.editVersion, snapshotId))],
    ...audited(kind, label ?? snapshotId, {
      snapshot_id: snapshotId,
      restored: changed.map(({ name, editVersion }) => ({ name, edit_version: editVersion })),
      archived: tables.flatMap(({ madeLater, name }) => (madeLater ? [name] : [])),
    }),
    events: tables.map((table) => artifactUpdated(table, table.editVersion, table.state)),
    usage: oneOp,
  };
}
