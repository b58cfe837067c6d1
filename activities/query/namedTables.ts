import { listWords } from '../../core/sql/listWords.ts';
import type { TableAt } from '../../core/table/table.ts';
import { listNamedTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openFresh } from '../transforms/refreshViews.ts';

const mostWords = 1_000;

/**
 * The active tables whose names occur in the SQL, at one moment. This is all it can read, unless a name is written in an
 * unusual way; other tables of the workbook are not opened. Views are brought up to date. Null: cannot be told.
 */
export async function openNamedTables(
  services: Services,
  workbookId: string,
  { sql, userId }: { sql: string; userId: string },
): Promise<TableAt[] | null> {
  const words = listWords(sql, mostWords);
  return words && openFresh(services, userId, () => listNamedTables(services.db, workbookId, words));
}
