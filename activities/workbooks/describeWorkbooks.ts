import type { Orm } from '../../store/pg/database.ts';
import { countSources } from '../../store/pg/sources.ts';
import { countTables } from '../../store/pg/tables.ts';
import { findUsers, type UserRecord } from '../../store/pg/users.ts';
import type { WorkbookRecord } from '../../store/pg/workbooks.ts';

export interface WorkbookDetail {
  owner: UserRecord;
  governed: boolean;
  counts: { tables: number; sources: number; sheets: number; charts: number };
}

/** What is shown of workbooks beyond their own row, for a whole page at once. */
export async function describeWorkbooks(orm: Orm, workbooks: WorkbookRecord[]): Promise<(workbook: WorkbookRecord) => WorkbookDetail> {
  const ids = workbooks.map((workbook) => workbook.id);
  // One after the other: in a transaction they share a connection.
  const owners = await findUsers(orm, [...new Set(workbooks.map((workbook) => workbook.ownerId))]);
  const tables = await countTables(orm, ids);
  const sources = await countSources(orm, ids);
  const byId = new Map(owners.map((owner) => [owner.id, owner]));
  return (workbook) => ({
    owner: byId.get(workbook.ownerId) as UserRecord,
    governed: false,
    counts: { tables: tables.get(workbook.id) ?? 0, sources: sources.get(workbook.id) ?? 0, sheets: 0, charts: 0 },
  });
}
