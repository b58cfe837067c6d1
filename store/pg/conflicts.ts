import { and, desc, eq, lt } from 'drizzle-orm';
import { conflicts, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type ConflictRecord = typeof conflicts.$inferSelect;
export type ConflictStatus = ConflictRecord['status'];
export type NewConflict = Omit<ConflictRecord, 'status' | 'createdAt' | 'resolvedAt' | 'resolvedBy'>;

const rowsAtOnce = 1000;

export async function insertConflicts(tx: Tx, records: NewConflict[]): Promise<void> {
  for (let from = 0; from < records.length; from += rowsAtOnce)
    await tx.orm
      .insert(conflicts)
      .values(records.slice(from, from + rowsAtOnce).map((record) => ({ ...record, status: 'open' as const, createdAt: tx.at })));
}

export type ListedConflict = ConflictRecord & { tableName: string };

/** Newest first. */
export async function listConflicts(
  orm: Orm,
  page: { workbookId: string; status: ConflictStatus | null; before: string | null; limit: number },
): Promise<ListedConflict[]> {
  const { workbookId, status, before, limit } = page;
  const rows = await orm
    .select({ conflict: conflicts, tableName: tables.name })
    .from(conflicts)
    .innerJoin(tables, eq(tables.id, conflicts.tableId))
    .where(
      and(
        eq(conflicts.workbookId, workbookId),
        status === null ? undefined : eq(conflicts.status, status),
        before === null ? undefined : lt(conflicts.id, before),
      ),
    )
    .orderBy(desc(conflicts.id))
    .limit(limit);
  return rows.map(({ conflict, tableName }) => ({ ...conflict, tableName }));
}

export async function findConflict(orm: Orm, workbookId: string, id: string): Promise<ListedConflict | null> {
  const [row] = await orm
    .select({ conflict: conflicts, tableName: tables.name })
    .from(conflicts)
    .innerJoin(tables, eq(tables.id, conflicts.tableId))
    .where(and(eq(conflicts.workbookId, workbookId), eq(conflicts.id, id)));
  return row ? { ...row.conflict, tableName: row.tableName } : null;
}

/** Returns false if it was closed already. */
export async function closeConflict(tx: Tx, id: string, status: ConflictStatus, current: string | null): Promise<boolean> {
  const closed = await tx.orm
    .update(conflicts)
    .set({ status, current, resolvedAt: tx.at, resolvedBy: tx.actor.name })
    .where(and(eq(conflicts.id, id), eq(conflicts.status, 'open')))
    .returning({ id: conflicts.id });
  return closed.length === 1;
}
