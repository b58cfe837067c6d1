import type { TagEdge } from '../../core/policy/tagFlows.ts';
import type { Tx } from './commit.ts';
import { VersionMoved } from './tableEdits.ts';

/**
 * Keeps tags as they are until the transaction ends, so that a column that comes to be misses none. The first lock of a
 * transaction, before those of tables. `policyVersion`: as it was read before; where it was 0, changes do not wait for each other.
 */
export async function holdTags(tx: Tx, workbookId: string, policyVersion: number): Promise<void> {
  const strength = policyVersion === 0 ? 'SHARE' : 'NO KEY UPDATE';
  const { rows } = await tx.client.query<{ version: string }>(
    `SELECT policy_version AS version FROM workbooks WHERE id = $1 FOR ${strength}`,
    [workbookId],
  );
  if (policyVersion === 0 && Number(rows[0]?.version ?? 0) > 0) throw new VersionMoved();
}

/** The same in transactions that have not read the policy version before. */
export async function holdTagsNow(tx: Tx, workbookId: string): Promise<void> {
  const { rows } = await tx.client.query<{ version: string }>('SELECT policy_version AS version FROM workbooks WHERE id = $1', [
    workbookId,
  ]);
  await holdTags(tx, workbookId, Number(rows[0]?.version ?? 0));
}

/** What the tables of a workbook are made from, and what versions that are kept were made from. */
export async function listTagEdges(tx: Tx, workbookId: string): Promise<TagEdge[]> {
  const { rows } = await tx.client.query<TagEdge>(
    `SELECT i.input_id AS input, i.table_id AS output, i.kind, i.flows,
       ARRAY(SELECT DISTINCT l.range FROM landings l WHERE i.kind = 'structuring' AND l.table_id = i.table_id AND l.range IS NOT NULL) AS ranges
     FROM table_inputs i JOIN tables t ON t.id = i.table_id WHERE t.workbook_id = $1
     UNION SELECT made->>'inputId', d.table_id, 'transform', nullif(made->'flows', 'null'), '{}'
     FROM derivations d JOIN tables t ON t.id = d.table_id CROSS JOIN jsonb_array_elements(d.inputs) AS made WHERE t.workbook_id = $1`,
    [workbookId],
  );
  return rows;
}

/** A column that a table has or had. */
export interface ColumnSpan {
  tableId: string;
  tableName: string;
  columnId: number;
  name: string;
  fromVersion: number;
  /** Null: it has it still. */
  toVersion: number | null;
}

export async function listColumnSpans(tx: Tx, tableIds: string[]): Promise<ColumnSpan[]> {
  const { rows } = await tx.client.query<ColumnSpan>(
    `SELECT c.table_id AS "tableId", t.name AS "tableName", c.column_id AS "columnId", c.name,
       c.from_version::float8 AS "fromVersion", (CASE WHEN t.deleted_at IS NULL THEN c.to_version ELSE coalesce(c.to_version, t.edit_version) END)::float8 AS "toVersion"
     FROM table_columns c JOIN tables t ON t.id = c.table_id WHERE c.table_id = ANY ($1) ORDER BY c.table_id, c.position, c.column_id`,
    [tableIds],
  );
  return rows;
}

/** Gives columns that begin with a version the tags of those that they replace: the same name under another id. */
export async function carryTags(tx: Tx, tableId: string, version: number): Promise<void> {
  await tx.client.query(
    `WITH carried AS (
       INSERT INTO column_tags (table_id, workbook_id, account_id, column_id, tag, origin, from_table, from_column, actor, created_at)
       SELECT g.table_id, g.workbook_id, g.account_id, n.column_id, g.tag, g.origin, g.from_table, g.from_column, g.actor, g.created_at
       FROM column_tags g
       JOIN table_columns o ON o.table_id = g.table_id AND o.column_id = g.column_id AND o.to_version = $2
       JOIN table_columns n ON n.table_id = g.table_id AND n.from_version = $2 AND lower(n.name) = lower(o.name) AND n.column_id <> o.column_id
       WHERE g.table_id = $1 ON CONFLICT DO NOTHING RETURNING workbook_id)
     UPDATE workbooks SET policy_version = greatest(policy_version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
     WHERE id IN (SELECT workbook_id FROM carried)`,
    [tableId, version],
  );
}
