import { listWords } from '../../core/sql/listWords.ts';
import type { TableAt } from '../../core/table/table.ts';
import { listNamedTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openFresh } from '../transforms/refreshViews.ts';

const mostWords = 1_000;

/** What may be names of tables in the SQL. Null: cannot be told. */
export const listNamesIn = (sql: string) => listWords(sql, mostWords);

/**
 * The active tables whose names occur in the SQL, at one moment. This is all it can read, unless a name is written in an
 * unusual way; other tables of the workbook are not opened. Null: cannot be told.
 */
function listTablesNamedIn(services: Services, workbookId: string, sql: string): Promise<TableAt[]> | null {
  const names = listNamesIn(sql);
  return names && listNamedTables(services.db, workbookId, names);
}

/** The same with the views among them brought up to date. `listed`: they were asked for just now. */
export async function openNamedTables(
  services: Services,
  workbookId: string,
  { sql, userId }: { sql: string; userId: string },
  listed = listTablesNamedIn(services, workbookId, sql),
): Promise<TableAt[] | null> {
  if (listed === null) return null;
  let next: Promise<TableAt[]> | null = listed;
  return openFresh(services, userId, async () => {
    const tables = await (next ?? listTablesNamedIn(services, workbookId, sql));
    next = null;
    return tables ?? [];
  });
}
