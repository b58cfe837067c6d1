import type { TableFingerprint, TablePlace } from '../../core/table/restore.ts';
import type { PlannedLayer } from '../../core/table/table.ts';
import type { ColumnRow } from './columns.ts';
import type { Tx } from './commit.ts';
import { carryTags } from './tagFlows.ts';

/** Locks the workbook's tables, and deleted ones that will be restored, in order of ids, as every change does. */
export async function lockTables(tx: Tx, workbookId: string, alsoIds: string[]): Promise<TableFingerprint[]> {
  const { rows } = await tx.client.query<TableFingerprint>(
    `SELECT id, edit_version::float8 AS "editVersion", name, state, deleted_at IS NOT NULL AS deleted FROM tables
     WHERE workbook_id = $1 AND (deleted_at IS NULL OR id = ANY ($2)) ORDER BY id FOR UPDATE`,
    [workbookId, alsoIds],
  );
  return rows;
}

/** Archives tables that are about to be renamed, so that they can swap names without violating the unique index. */
export async function freeTableNames(tx: Tx, ids: string[]): Promise<void> {
  await tx.client.query(`UPDATE tables SET state = 'archived' WHERE id = ANY ($1)`, [ids]);
}

/** Sets name, state and description; undeletes the table. */
export async function placeTable(tx: Tx, id: string, place: TablePlace): Promise<void> {
  await tx.client.query(`UPDATE tables SET name = $2, state = $3, description = $4, deleted_at = NULL, updated_at = $5 WHERE id = $1`, [
    id,
    place.name,
    place.state,
    place.description,
    tx.at,
  ]);
}

export interface RestoredContent {
  tableId: string;
  versionUid: string;
  manifestId: string;
  layers: PlannedLayer[];
  rowCount: number;
  tailCount: number;
  columns: Omit<ColumnRow, 'tableId' | 'accountId' | 'fromVersion' | 'toVersion'>[];
}

/** Makes the next version of a table, with the content of an older one; returns its number. */
export async function restoreTable(tx: Tx, content: RestoredContent): Promise<number> {
  const columns = content.columns.map((column) => ({
    column_id: column.columnId,
    name: column.name,
    type: column.type,
    default_text: column.defaultText,
    position: column.position,
    description: column.description,
  }));
  const { rows } = await tx.client.query<{ version: string }>('SELECT svc_restore_table($1, $2, $3, $4, $5, $6, $7, $8) AS version', [
    content.tableId,
    content.versionUid,
    tx.at,
    content.manifestId,
    JSON.stringify(content.layers),
    content.rowCount,
    content.tailCount,
    JSON.stringify(columns),
  ]);
  const version = Number(rows[0]?.version);
  await carryTags(tx, content.tableId, version);
  return version;
}
