import { and, asc, eq, gt, gte, lt, lte } from 'drizzle-orm';
import type { WrittenLogFile } from '../../core/table/edit.ts';
import { logFiles } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type LogFile = typeof logFiles.$inferSelect;

export async function insertLogFiles(tx: Tx, tableId: string, editVersion: number, files: WrittenLogFile[]): Promise<void> {
  await tx.orm.insert(logFiles).values(files.map((file) => ({ ...file, tableId, after: editVersion - 1, upTo: editVersion })));
}

/** Files with entries in a range of versions, oldest first; with `rows`, only those that may hold such rows. */
export async function listLogFiles(
  orm: Orm,
  tableId: string,
  range: { after: number; upTo: number },
  rows: { min: number; max: number } | null,
): Promise<LogFile[]> {
  return orm
    .select()
    .from(logFiles)
    .where(
      and(
        eq(logFiles.tableId, tableId),
        gt(logFiles.upTo, range.after),
        lt(logFiles.after, range.upTo),
        rows ? and(lte(logFiles.minRow, rows.max), gte(logFiles.maxRow, rows.min)) : undefined,
      ),
    )
    .orderBy(asc(logFiles.upTo));
}
