import { and, asc, count, eq, getTableColumns, gt, inArray, sql } from 'drizzle-orm';
import { sheets } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type SheetRecord = Omit<typeof sheets.$inferSelect, 'nameKey'>;

const { nameKey: _, ...fields } = getTableColumns(sheets);
const named = (workbookId: string, name: string) => and(eq(sheets.workbookId, workbookId), eq(sheets.nameKey, sql`lower(${name})`));

/** The sheets of a workbook by name. */
export async function listSheets(orm: Orm, workbookId: string, after: string | null, limit: number): Promise<SheetRecord[]> {
  return orm
    .select(fields)
    .from(sheets)
    .where(and(eq(sheets.workbookId, workbookId), after === null ? undefined : gt(sheets.nameKey, after)))
    .orderBy(asc(sheets.nameKey))
    .limit(limit);
}

export async function findSheet(orm: Orm, workbookId: string, name: string): Promise<SheetRecord | null> {
  const [row] = await orm.select(fields).from(sheets).where(named(workbookId, name));
  return row ?? null;
}

/** Creates a sheet, or replaces all of the one with the name, which keeps its id and the case of its name. */
export async function upsertSheet(
  tx: Tx,
  made: Omit<SheetRecord, 'createdAt' | 'updatedAt'>,
): Promise<{ sheet: SheetRecord; isNew: boolean }> {
  const { title, blocks } = made;
  const [sheet] = await tx.orm
    .insert(sheets)
    .values({ ...made, createdAt: tx.at, updatedAt: tx.at })
    .onConflictDoUpdate({ target: [sheets.workbookId, sheets.nameKey], set: { title, blocks, updatedAt: tx.at } })
    .returning(fields);
  return { sheet: sheet as SheetRecord, isNew: sheet?.id === made.id };
}

/** Null: there is none. */
export async function deleteSheet(tx: Tx, workbookId: string, name: string): Promise<SheetRecord | null> {
  const [gone] = await tx.orm.delete(sheets).where(named(workbookId, name)).returning(fields);
  return gone ?? null;
}

export async function countSheets(orm: Orm, workbookIds: string[]): Promise<Map<string, number>> {
  if (workbookIds.length === 0) return new Map();
  const rows = await orm
    .select({ workbookId: sheets.workbookId, sheets: count() })
    .from(sheets)
    .where(inArray(sheets.workbookId, workbookIds))
    .groupBy(sheets.workbookId);
  return new Map(rows.map((row) => [row.workbookId, row.sheets]));
}
