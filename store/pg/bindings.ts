import { and, asc, eq, gt } from 'drizzle-orm';
import { syncBindings, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type BindingRecord = typeof syncBindings.$inferSelect;

/** The bindings of a table, oldest first. */
export async function listBindings(orm: Orm, tableId: string, after: string | null, limit: number): Promise<BindingRecord[]> {
  return orm
    .select()
    .from(syncBindings)
    .where(and(eq(syncBindings.tableId, tableId), after === null ? undefined : gt(syncBindings.id, after)))
    .orderBy(asc(syncBindings.id))
    .limit(limit);
}

/**
 * Binds a sheet to a table. One that is bound to the table already gets the new settings and keeps its id; one of a deleted table
 * is taken over. Returns the table that it is bound to instead, if there is another.
 */
export async function putBinding(
  tx: Tx,
  made: Omit<BindingRecord, 'createdAt'>,
): Promise<{ binding: BindingRecord } | { boundTo: string }> {
  const sheet = and(
    eq(syncBindings.workbookId, made.workbookId),
    eq(syncBindings.externalKind, made.externalKind),
    eq(syncBindings.externalRef, made.externalRef),
  );
  const [added] = await tx.orm
    .insert(syncBindings)
    .values({ ...made, createdAt: tx.at })
    .onConflictDoNothing()
    .returning();
  if (added) return { binding: added };
  const [before] = await tx.orm
    .select({ binding: syncBindings, table: { name: tables.name, deletedAt: tables.deletedAt } })
    .from(syncBindings)
    .innerJoin(tables, eq(tables.id, syncBindings.tableId))
    .where(sheet)
    .for('update', { of: syncBindings });
  if (before && before.binding.tableId !== made.tableId && before.table.deletedAt === null) return { boundTo: before.table.name };
  const { id: _, ...settings } = made;
  const [binding] = await tx.orm.update(syncBindings).set(settings).where(sheet).returning();
  return { binding: binding as BindingRecord };
}

/** False: the table has no such binding. */
export async function deleteBinding(tx: Tx, tableId: string, id: string): Promise<boolean> {
  const gone = await tx.orm
    .delete(syncBindings)
    .where(and(eq(syncBindings.tableId, tableId), eq(syncBindings.id, id)))
    .returning({ id: syncBindings.id });
  return gone.length > 0;
}
