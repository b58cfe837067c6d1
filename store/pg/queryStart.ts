import type { TableAt } from '../../core/table/table.ts';
import { tables, workbooks } from '../../schema/index.ts';
import type { Database } from './database.ts';
import { defineLookup } from './lookups.ts';
import { asResult, lastOfQuestion, type ResultRecord, type StoredResult } from './results.ts';
import { reviveDates } from './selectColumns.ts';
import { asTableAt, type CurrentRow, onlyStorable, tablesNamed } from './tables.ts';
import { seenWorkbook, type VisibleWorkbook } from './workbooks.ts';

/** What a query needs of the database before it can run. */
export interface QueryStart {
  /** As `findVisibleWorkbook` finds it. */
  workbook: VisibleWorkbook | null;
  /** As `listNamedTables` finds them. */
  tables: TableAt[];
  /** As `listLastResults` finds them. */
  last: ResultRecord[];
}

interface Found {
  workbook: VisibleWorkbook | null;
  tables: CurrentRow[] | null;
  last: StoredResult[] | null;
}

const [reviveWorkbook, reviveTable] = [reviveDates(workbooks), reviveDates(tables)];

/** By workbook id, and by all else as a JSON object. */
const queryStart = defineLookup<Found>(
  'query_start',
  `SELECT (SELECT row_to_json(seen) FROM (${seenWorkbook}) AS seen) AS workbook,
     (SELECT json_agg(found) FROM (${tablesNamed}) AS found) AS tables,
     (SELECT json_agg(record) FROM (${lastOfQuestion}) AS same) AS last`,
  ['asker', 'account', 'asked', 'names'].map((name) => `b::json ->> '${name}' AS ${name}`),
);

/** All of it in one look-up, because every statement of a query costs as much as many of its rows. */
export async function findQueryStart(
  db: Database,
  asked: { workbookId: string; userId: string; accountId: string | null; names: string[]; askedKey: string },
): Promise<QueryStart> {
  const { userId, accountId, names, askedKey } = asked;
  const keys = { asker: userId, account: accountId ?? '', asked: askedKey, names: onlyStorable(names) };
  const found = await db.lookUpInAccounts(queryStart, asked.workbookId, JSON.stringify(keys));
  return {
    workbook: found?.workbook ? reviveWorkbook(found.workbook) : null,
    tables: (found?.tables ?? []).map((row) => asTableAt(reviveTable(row))),
    last: await Promise.all((found?.last ?? []).map(asResult)),
  };
}
