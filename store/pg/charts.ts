import { and, asc, count, eq, getTableColumns, gt, inArray, isNull, sql } from 'drizzle-orm';
import { charts, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type ChartRecord = Omit<typeof charts.$inferSelect, 'nameKey'> & {
  /** Null: it was deleted. */
  tableName: string | null;
};

const { nameKey: _, ...fields } = getTableColumns(charts);
const named = (workbookId: string, name: string) => and(eq(charts.workbookId, workbookId), eq(charts.nameKey, sql`lower(${name})`));

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

export async function findChart(orm: Orm, workbookId: string, name: string): Promise<ChartRecord | null> {
  const [row] = await orm
    .select({ ...fields, tableName: tables.name })
    .from(charts)
    .leftJoin(tables, and(eq(tables.id, charts.tableId), isNull(tables.deletedAt)))
    .where(named(workbookId, name));
  return row ?? null;
}

type NewChart = Omit<ChartRecord, 'createdAt' | 'updatedAt' | 'tableName'>;

/** Creates a chart, or replaces all of the one with the name, which keeps its id and the case of its name. */
export async function upsertChart(tx: Tx, made: NewChart): Promise<{ chart: Omit<ChartRecord, 'tableName'>; isNew: boolean }> {
  const { id: _id, workbookId: _workbookId, accountId: _accountId, name: _name, ...content } = made;
  const [chart] = await tx.orm
    .insert(charts)
    .values({ ...made, createdAt: tx.at, updatedAt: tx.at })
    .onConflictDoUpdate({ target: [charts.workbookId, charts.nameKey], set: { ...content, updatedAt: tx.at } })
    .returning(fields);
  return { chart: chart as Omit<ChartRecord, 'tableName'>, isNew: chart?.id === made.id };
}

/** Null: there is none. */
export async function deleteChart(tx: Tx, workbookId: string, name: string): Promise<Pick<ChartRecord, 'id' | 'name'> | null> {
  const [gone] = await tx.orm.delete(charts).where(named(workbookId, name)).returning({ id: charts.id, name: charts.name });
  return gone ?? null;
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
