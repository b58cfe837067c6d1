import { and, asc, eq, or, sql } from 'drizzle-orm';
import { annotations } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type AnnotationRecord = typeof annotations.$inferSelect;

/** Row 0 and column 0 stand for "none": both for the table, one of them for a column or a row. */
export interface AnnotationKey {
  rowId: number;
  columnId: number;
}

/** In order of row and column, after a key. Annotations on columns that are not shown are left out. */
export async function listAnnotations(
  orm: Orm,
  tableId: string,
  page: { after: AnnotationKey | null; limit: number; shownColumns: number[] },
): Promise<AnnotationRecord[]> {
  const { after } = page;
  return orm
    .select()
    .from(annotations)
    .where(
      and(
        eq(annotations.tableId, tableId),
        sql`${annotations.columnId} = ANY (${sql.param([0, ...page.shownColumns])}::integer[])`,
        after ? sql`(${annotations.rowId}, ${annotations.columnId}) > (${after.rowId}::bigint, ${after.columnId}::bigint)` : undefined,
      ),
    )
    .orderBy(asc(annotations.rowId), asc(annotations.columnId))
    .limit(page.limit);
}

/** Replaces the annotations of the targets, each of which may occur once. Rows are locked in order of keys, so that two calls cannot deadlock. */
export async function upsertAnnotations(
  tx: Tx,
  tableId: string,
  items: (AnnotationKey & Pick<AnnotationRecord, 'style' | 'note'>)[],
): Promise<AnnotationRecord[]> {
  return tx.orm
    .insert(annotations)
    .values(
      items
        .toSorted((a, b) => a.rowId - b.rowId || a.columnId - b.columnId)
        .map((item) => ({ ...item, tableId, actor: tx.actor.name, updatedAt: tx.at })),
    )
    .onConflictDoUpdate({
      target: [annotations.tableId, annotations.rowId, annotations.columnId],
      set: { style: sql`excluded.style`, note: sql`excluded.note`, actor: sql`excluded.actor`, updatedAt: sql`excluded.updated_at` },
    })
    .returning();
}

export async function deleteAnnotations(tx: Tx, tableId: string, keys: AnnotationKey[]): Promise<number> {
  const gone = await tx.orm
    .delete(annotations)
    .where(
      and(
        eq(annotations.tableId, tableId),
        or(...keys.map((key) => and(eq(annotations.rowId, key.rowId), eq(annotations.columnId, key.columnId)))),
      ),
    )
    .returning({ rowId: annotations.rowId });
  return gone.length;
}
