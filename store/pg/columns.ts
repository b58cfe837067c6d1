import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm';
import type { NewColumn } from '../../core/table/planColumns.ts';
import type { ColumnRecord } from '../../core/table/table.ts';
import { annotations, tableColumns, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

type ColumnRow = typeof tableColumns.$inferSelect;

/** All columns that a table ever had, by id, each under its newest name; live ones first, in order. */
export async function listColumnsEver(orm: Orm, tableId: string): Promise<(ColumnRecord & { live: boolean })[]> {
  const rows = await orm
    .select()
    .from(tableColumns)
    .where(eq(tableColumns.tableId, tableId))
    .orderBy(sql`${tableColumns.toVersion} DESC NULLS FIRST`, asc(tableColumns.position), asc(tableColumns.columnId));
  const byId = new Map<number, ColumnRecord & { live: boolean }>();
  for (const row of rows) {
    if (byId.has(row.columnId)) continue;
    byId.set(row.columnId, {
      id: row.columnId,
      name: row.name,
      type: row.type,
      defaultText: row.defaultText,
      description: row.description,
      live: row.toVersion === null,
    });
  }
  return [...byId.values()];
}

/** After the compare-and-set, under the table row's lock: a new column at the end, from this version on. */
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

/** The column goes on under a new id in the same place; its description and annotations go with it. */
export async function replaceColumnAt(tx: Tx, tableId: string, version: number, columnId: number, column: NewColumn): Promise<void> {
  const old = await endColumnAt(tx, tableId, version, columnId);
  await startColumn(tx, tableId, version, {
    ...column,
    accountId: old.accountId,
    position: old.position,
    description: old.description,
  });
  await takeColumnId(tx, tableId, column.id);
  // Copied, not moved: a restore can bring the old id back.
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
}

/** The id ends with this version: it is not in it any more. */
export async function endColumnAt(tx: Tx, tableId: string, version: number, columnId: number): Promise<ColumnRow> {
  const [row] = await tx.orm
    .update(tableColumns)
    .set({ toVersion: version })
    .where(and(eq(tableColumns.tableId, tableId), eq(tableColumns.columnId, columnId), isNull(tableColumns.toVersion)))
    .returning();
  if (!row) throw new Error(`column ${columnId} of ${tableId} is not there`);
  return row;
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

/** Ids are never given twice, not even after a restore. */
async function takeColumnId(tx: Tx, tableId: string, id: number): Promise<void> {
  await tx.orm
    .update(tables)
    .set({ nextColumnId: id + 1 })
    .where(eq(tables.id, tableId));
}
