import type { ListedSnapshot, ListedVersion } from '../../activities/snapshots/pageSnapshots.ts';
import type { RestoredVersion, RestoreInput, RestoreResult } from '../../core/jobs/restoreJobs.ts';
import type { components } from '../../schema/contract.ts';
import type { EditingSnapshot, SnapshotRecord, SnapshotTable } from '../../store/pg/snapshots.ts';

type Schemas = components['schemas'];

/** Shows only active tables: archived ones are in the snapshot too, but cannot be read by name. */
function presentTables(tables: Pick<SnapshotTable, 'name' | 'state' | 'editVersion'>[]): Schemas['ReadTable'][] {
  return tables.filter((table) => table.state === 'active').map((table) => ({ name: table.name, edit_version: table.editVersion }));
}

export function presentSnapshot(snapshot: SnapshotRecord, tables: SnapshotTable[], labels: string[]): Schemas['Snapshot'] {
  return {
    id: snapshot.id,
    state: 'committed',
    summary: snapshot.summary,
    event_type: snapshot.eventType,
    tables: presentTables(tables),
    versions: labels,
    user_id: snapshot.userId,
    created_at: snapshot.openedAt.toISOString(),
    committed_at: snapshot.committedAt.toISOString(),
  };
}

function presentEditing(editing: EditingSnapshot, tables: Pick<SnapshotTable, 'name' | 'state' | 'editVersion'>[]): Schemas['Snapshot'] {
  return {
    id: editing.id,
    state: 'editing',
    summary: null,
    event_type: null,
    tables: presentTables(tables),
    versions: [],
    user_id: null,
    created_at: editing.openedAt.toISOString(),
    committed_at: null,
  };
}

export function presentListed(listed: ListedSnapshot): Schemas['Snapshot'] {
  if ('editing' in listed) return presentEditing(listed.editing, listed.tables);
  return presentSnapshot(listed.snapshot, listed.tables, listed.labels);
}

export function presentVersion({ version, tables }: ListedVersion): Schemas['Version'] {
  return {
    label: version.label,
    summary: version.summary,
    snapshot_id: version.snapshotId,
    tables: presentTables(tables),
    user_id: version.userId ?? '',
    created_at: version.createdAt.toISOString(),
  };
}

const presentWritten = ({ name, editVersion, rowCount }: RestoredVersion): Schemas['OutputTable'] => ({
  name,
  edit_version: editVersion,
  row_count: rowCount,
});

export function presentRestored({
  snapshotId,
  restored,
  archived,
  recomputed = [],
  failed = [],
}: RestoreInput & Partial<RestoreResult>): Schemas['RestoreResponse'] {
  return {
    snapshot_id: snapshotId,
    restored: restored.map(presentWritten),
    recomputed: recomputed.map(presentWritten),
    archived,
    failed: failed.map(({ name, error }) => ({ name, error })),
  };
}
