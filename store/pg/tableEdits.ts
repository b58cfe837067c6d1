import type { EventNote } from '../../core/journal/events.ts';
import type { Notes } from '../../core/journal/notes.ts';
import type { Change } from '../../core/lineage/staleness.ts';
import type { LogEntry } from '../../core/table/log.ts';
import type { Layer, PlannedLayer } from '../../core/table/table.ts';
import type { StatementChange, Tx } from './commit.ts';

export interface TableEdit {
  tableId: string;
  /** The version that the edit is based on; it is refused if the table has another by now. */
  readVersion: number;
  versionUid: string;
  inserted: number;
  deleted: number;
  entries: LogEntry[];
  manifest: { id: string; layers: PlannedLayer[] } | null;
  schemaChanged: boolean;
  /** What it changes for tables that are made from this one. */
  change: Change;
  /** The beginning of the ids of its further events. */
  eventPrefix: string;
}

export interface EditedTable {
  editVersion: number;
  firstRowId: number;
  rowCount: number;
  tailCount: number;
  /** Names of derived tables that are out of date because of the edit. */
  stale: string[];
}

/** The table has a newer version than the one that was read. Nothing was changed. */
export class VersionMoved extends Error {}

const movedOn = 'SV001';

/** Makes the next version of a table, based on `readVersion`. */
export function editTable(edit: TableEdit, scope: string, notes: Notes): StatementChange<EditedTable> {
  return {
    scope,
    notes,
    statement: (at) => ({
      name: 'edit_table',
      // The CASE makes the marking run after the edit.
      text: `SELECT edited.*, marked.* FROM svc_edit_table($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS edited
             CROSS JOIN LATERAL svc_mark_stale(CASE WHEN edited.edit_version IS NULL THEN NULL ELSE $1 END, $11::integer[], $4, $12) AS marked`,
      values: [
        edit.tableId,
        edit.readVersion,
        edit.versionUid,
        at,
        edit.inserted,
        edit.deleted,
        JSON.stringify(edit.entries.map((entry) => [entry.rowId, entry.op, entry.changed, entry.cells, entry.before])),
        edit.manifest?.id ?? null,
        edit.manifest && JSON.stringify(edit.manifest.layers),
        edit.schemaChanged,
        listChanged(edit.change),
        edit.eventPrefix,
      ],
    }),
    read: (row) => ({
      editVersion: Number(row.edit_version),
      firstRowId: Number(row.first_row_id),
      rowCount: Number(row.row_count),
      tailCount: Number(row.tail_count),
      stale: row.stale as unknown as string[],
    }),
    eventsFrom: 'stale_events',
    outcome: `jsonb_build_object('editVersion', changed.edit_version, 'opId', noted.first_op, 'firstRowId', changed.first_row_id, 'stale', changed.stale)`,
    explain: (error) => ((error as { code?: string }).code === movedOn ? new VersionMoved() : error),
  };
}

/** Column ids; null: rows came or went. */
const listChanged = ({ rows, columns }: Change): number[] | null => (rows ? null : [...columns]);

/**
 * Marks what is made from a table as stale, where the change is not an edit. Returns the names of those that were fresh. Events are
 * not published for tables that the caller makes fresh again.
 */
export async function markStale(
  tx: Tx,
  table: { id: string; workbookId: string },
  change: Change,
  eventPrefix: string,
  freshAgain: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const { rows } = await tx.client.query<{ stale: string[]; stale_events: EventNote[] }>('SELECT * FROM svc_mark_stale($1, $2, $3, $4)', [
    table.id,
    listChanged(change),
    tx.at,
    eventPrefix,
  ]);
  const events = rows[0]?.stale_events ?? [];
  tx.note(table.workbookId, {
    events: events.filter((event) => event.type !== 'artifact.stale' || !freshAgain.has(event.data.artifact_id)),
  });
  return rows[0]?.stale ?? [];
}

/** Adds a layer to the version that an edit has made in this transaction. */
export async function appendLayer(tx: Tx, tableId: string, editVersion: number, manifestId: string, layer: Layer): Promise<void> {
  await tx.client.query('SELECT svc_append_layer($1, $2, $3, $4, $5)', [tableId, editVersion, manifestId, JSON.stringify(layer), tx.at]);
}
