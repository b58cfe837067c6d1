import { and, asc, desc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { NewColumn } from '../../core/table/planColumns.ts';
import type { ColumnRecord } from '../../core/table/table.ts';
import { annotations, tableColumns, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';
import { carryTags } from './tagFlows.ts';

export type ColumnRow = typeof tableColumns.$inferSelect;

/** The columns of tables in order, each table at the given version. */
export async function listColumnRows(orm: Orm, versions: Map<string, number>): Promise<Map<string, ColumnRow[]>> {
  const byTable = new Map<string, ColumnRow[]>([...versions.keys()].map((id) => [id, []]));
  if (versions.size === 0) return byTable;
  const rows = await orm
    .select()
    .from(tableColumns)
    .where(inArray(tableColumns.tableId, [...versions.keys()]))
    .orderBy(asc(tableColumns.position), asc(tableColumns.columnId));
  for (const row of rows) {
    const version = versions.get(row.tableId) ?? 0;
    if (row.fromVersion <= version && (row.toVersion === null || row.toVersion > version)) byTable.get(row.tableId)?.push(row);
  }
  return byTable;
}

function asColumnRecord({ columnId: id, name, type, defaultText, description }: ColumnRow): ColumnRecord {
  return { id, name, type, defaultText, description };
}

export async function listColumnsAt(orm: Orm, versions: Map<string, number>): Promise<Map<string, ColumnRecord[]>> {
  const byTable = await listColumnRows(orm, versions);
  return new Map([...byTable].map(([id, rows]) => [id, rows.map(asColumnRecord)]));
}

/** A column that a table has or had, with its newest name. */
export interface ColumnEver extends ColumnRecord {
  live: boolean;
  /** Every name that it ever had. */
  names: Set<string>;
}

/** All columns that a table ever had; live ones first, in order. */
export async function listColumnsEver(orm: Orm, tableId: string): Promise<ColumnEver[]> {
  return (await listColumnsEverOf(orm, [tableId])).get(tableId) ?? [];
}

/** The same of several tables, by id. */
export async function listColumnsEverOf(orm: Orm, tableIds: string[]): Promise<Map<string, ColumnEver[]>> {
  const found = new Map(tableIds.map((id) => [id, new Map<number, ColumnEver>()]));
  if (tableIds.length === 0) return new Map();
  const rows = await orm
    .select()
    .from(tableColumns)
    .where(inArray(tableColumns.tableId, tableIds))
    .orderBy(sql`${tableColumns.toVersion} DESC NULLS FIRST`, asc(tableColumns.position), asc(tableColumns.columnId));
  for (const row of rows) {
    const columns = found.get(row.tableId);
    const known = columns?.get(row.columnId);
    if (known) known.names.add(row.name);
    else columns?.set(row.columnId, { ...asColumnRecord(row), live: row.toVersion === null, names: new Set([row.name]) });
  }
  return new Map([...found].map(([id, columns]) => [id, [...columns.values()]]));
}

/** Adds a column at the end from this version on. Called while the transaction holds the lock of the table's row. */
export async function addColumnAt(tx: Tx, tableId: string, version: number, column: NewColumn): Promise<void> {
  const [last] = await tx.orm
    .select({ position: tableColumns.position, accountId: tableColumns.accountId })
    .from(tableColumns)
    .where(and(eq(tableColumns.tableId, tableId), isNull(tableColumns.toVersion)))
    .orderBy(desc(tableColumns.position))
    .limit(1);
  if (!last) throw new Error(`${tableId} has no columns`);
  await startColumn(tx, tableId, version, { ...column, ...last, position: last.position + 1, description: null });
  await takeColumnId(tx, tableId, column.id);
}

export async function renameColumnAt(tx: Tx, tableId: string, version: number, columnId: number, name: string): Promise<void> {
  const old = await endColumnAt(tx, tableId, version, columnId);
  await startColumn(tx, tableId, version, { ...old, id: columnId, name });
}

/** Replaces a column by one with a new id in the same position, with the same description and annotations. */
export async function replaceColumnAt(tx: Tx, tableId: string, version: number, columnId: number, column: NewColumn): Promise<void> {
  const old = await endColumnAt(tx, tableId, version, columnId);
  await startColumn(tx, tableId, version, {
    ...column,
    accountId: old.accountId,
    position: old.position,
    description: old.description,
  });
  await takeColumnId(tx, tableId, column.id);
  // Copied instead of moved, because a restore can bring the old id back.
  await tx.orm.insert(annotations).select(
    tx.orm
      .select({
        tableId: annotations.tableId,
        rowId: annotations.rowId,
        columnId: sql<number>`${column.id}::integer`.as('column_id'),
        style: annotations.style,
        note: annotations.note,
        actor: annotations.actor,
        updatedAt: annotations.updatedAt,
      })
      .from(annotations)
      .where(and(eq(annotations.tableId, tableId), eq(annotations.columnId, columnId))),
  );
  await keepOrigins(tx, tableId, columnId, column.id);
  await carryTags(tx, tableId, version);
}

/** A column that replaces another comes from the same columns of the raw table. The other stays: a restore can bring it back. */
async function keepOrigins(tx: Tx, tableId: string, oldId: number, newId: number): Promise<void> {
  await tx.client.query(
    `UPDATE table_inputs SET flows = jsonb_set(flows, '{columns}', (
       SELECT coalesce(jsonb_object_agg(key, CASE WHEN value @> to_jsonb($2::integer) THEN value || to_jsonb($3::integer) ELSE value END), '{}')
       FROM jsonb_each(flows->'columns')))
     WHERE table_id = $1 AND kind = 'structuring' AND flows IS NOT NULL`,
    [tableId, oldId, newId],
  );
}

/** Ends a column: it is no longer part of this version. */
export async function endColumnAt(tx: Tx, tableId: string, version: number, columnId: number): Promise<ColumnRow> {
  const [row] = await tx.orm
    .update(tableColumns)
    .set({ toVersion: version })
    .where(and(eq(tableColumns.tableId, tableId), eq(tableColumns.columnId, columnId), isNull(tableColumns.toVersion)))
    .returning();
  if (!row) throw new Error(`column ${columnId} of ${tableId} is not there`);
  return row;
}

/** Gives a table other columns from this version on. Those that stay as they are keep their description. */
export async function replaceColumnsAt(
  tx: Tx,
  table: { id: string; accountId: string },
  version: number,
  columns: { id: number; name: string; type: string }[],
): Promise<void> {
  const wanted = [columns.map(({ id }) => id), columns.map(({ name }) => name), columns.map(({ type }) => type)];
  const list = 'unnest($3::integer[], $4::text[], $5::text[]) WITH ORDINALITY AS w(column_id, name, type, position)';
  await tx.client.query(
    `UPDATE table_columns c SET to_version = $2 WHERE c.table_id = $1 AND c.to_version IS NULL
       AND NOT EXISTS (SELECT 1 FROM ${list} WHERE w.column_id = c.column_id AND w.name = c.name AND w.type = c.type AND w.position = c.position)`,
    [table.id, version, ...wanted],
  );
  await tx.client.query(
    `INSERT INTO table_columns (table_id, account_id, column_id, from_version, name, type, position, description)
     SELECT $1, $6, w.column_id, $2, w.name, w.type, w.position,
       (SELECT o.description FROM table_columns o WHERE o.table_id = $1 AND o.column_id = w.column_id AND o.to_version = $2)
     FROM ${list}
     WHERE NOT EXISTS (SELECT 1 FROM table_columns c WHERE c.table_id = $1 AND c.column_id = w.column_id AND c.to_version IS NULL)`,
    [table.id, version, ...wanted, table.accountId],
  );
  await carryTags(tx, table.id, version);
}

async function startColumn(
  tx: Tx,
  tableId: string,
  version: number,
  column: NewColumn & Pick<ColumnRow, 'accountId' | 'position' | 'description'>,
): Promise<void> {
  await tx.orm.insert(tableColumns).values({
    tableId,
    accountId: column.accountId,
    columnId: column.id,
    fromVersion: version,
    name: column.name,
    type: column.type,
    defaultText: column.defaultText,
    position: column.position,
    description: column.description,
  });
}

/** Column ids are never reused, not even after a restore. */
async function takeColumnId(tx: Tx, tableId: string, id: number): Promise<void> {
  await tx.orm
    .update(tables)
    .set({ nextColumnId: id + 1 })
    .where(eq(tables.id, tableId));
}
