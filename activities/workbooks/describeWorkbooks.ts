import type { Orm } from '../../store/pg/database.ts';
import { findUsers, type UserRecord } from '../../store/pg/users.ts';
import type { WorkbookRecord } from '../../store/pg/workbooks.ts';

export interface WorkbookDetail {
  owner: UserRecord;
  governed: boolean;
  counts: { tables: number; sources: number; sheets: number; charts: number };
}

/** What is shown of workbooks beyond their own row, for a whole page at once. */
export async function describeWorkbooks(orm: Orm, workbooks: WorkbookRecord[]): Promise<(workbook: WorkbookRecord) => WorkbookDetail> {
  const owners = await findUsers(orm, [...new Set(workbooks.map((workbook) => workbook.ownerId))]);
  const byId = new Map(owners.map((owner) => [owner.id, owner]));
  return (workbook) => ({
    owner: byId.get(workbook.ownerId) as UserRecord,
    governed: false,
    counts: { tables: 0, sources: 0, sheets: 0, charts: 0 },
  });
}
