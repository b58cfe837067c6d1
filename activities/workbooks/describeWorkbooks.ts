import { countCharts } from '../../store/pg/charts.ts';
import type { Orm } from '../../store/pg/database.ts';
import { listGoverned } from '../../store/pg/governance.ts';
import { countSheets } from '../../store/pg/sheets.ts';
import { countSources } from '../../store/pg/sources.ts';
import { countTables } from '../../store/pg/tables.ts';
import { findUsers, type UserRecord } from '../../store/pg/users.ts';
import type { WorkbookRecord } from '../../store/pg/workbooks.ts';

/** A workbook with all that is shown of it. */
export interface DescribedWorkbook {
  workbook: WorkbookRecord;
  owner: UserRecord;
  governed: boolean;
  counts: { tables: number; sources: number; sheets: number; charts: number };
}

/** Reads what a whole page needs at once. */
export async function describeWorkbooks(orm: Orm, workbooks: WorkbookRecord[]): Promise<DescribedWorkbook[]> {
  const ids = workbooks.map((workbook) => workbook.id);
  // Not in parallel: in a transaction they share a connection.
  const owners = await findUsers(orm, [...new Set(workbooks.map((workbook) => workbook.ownerId))]);
  const tables = await countTables(orm, ids);
  const sources = await countSources(orm, ids);
  const sheets = await countSheets(orm, ids);
  const charts = await countCharts(orm, ids);
  const governed = await listGoverned(orm, ids);
  const byId = new Map(owners.map((owner) => [owner.id, owner]));
  return workbooks.map((workbook) => ({
    workbook,
    owner: byId.get(workbook.ownerId) as UserRecord,
    governed: governed.has(workbook.id),
    counts: {
      tables: tables.get(workbook.id) ?? 0,
      sources: sources.get(workbook.id) ?? 0,
      sheets: sheets.get(workbook.id) ?? 0,
      charts: charts.get(workbook.id) ?? 0,
    },
  }));
}

export async function describeWorkbook(orm: Orm, workbook: WorkbookRecord): Promise<DescribedWorkbook> {
  const [described] = await describeWorkbooks(orm, [workbook]);
  return described as DescribedWorkbook;
}
