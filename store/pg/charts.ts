import { and, asc, count, eq, getTableColumns, gt, inArray, isNull } from 'drizzle-orm';
import { charts, tables } from '../../schema/index.ts';
import type { Orm } from './database.ts';

export type ChartRecord = Omit<typeof charts.$inferSelect, 'nameKey'> & {
  /** Null: it was deleted. */
  tableName: string | null;
};

const { nameKey: _, ...fields } = getTableColumns(charts);

/** The charts of a workbook by name. */
export async function listCharts(orm: Orm, workbookId: string, after: string | null, limit: number): Promise<ChartRecord[]> {
  return orm
    .select({ ...fields, tableName: tables.name })
    .from(charts)
    .leftJoin(tables, and(eq(tables.id, charts.tableId), isNull(tables.deletedAt)))
    .where(and(eq(charts.workbookId, workbookId), after === null ? undefined : gt(charts.nameKey, after)))
    .orderBy(asc(charts.nameKey))
    .limit(limit);
}

export async function countCharts(orm: Orm, workbookIds: string[]): Promise<Map<string, number>> {
  if (workbookIds.length === 0) return new Map();
  const rows = await orm
    .select({ workbookId: charts.workbookId, charts: count() })
    .from(charts)
    .where(inArray(charts.workbookId, workbookIds))
    .groupBy(charts.workbookId);
  return new Map(rows.map((row) => [row.workbookId, row.charts]));
}
