import { listWords } from '../../core/sql/listWords.ts';
import type { TableAt } from '../../core/table/table.ts';
import { listNamedTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';

const mostWords = 1_000;

/**
 * The active tables whose names stand in a SQL text, as they are at one moment: all that it can read, unless it writes a name
 * in a strange way. A workbook may have thousands of others. Null where there is no telling.
 */
export async function findNamedTables(services: Services, workbookId: string, sql: string): Promise<TableAt[] | null> {
  const words = listWords(sql, mostWords);
  return words && listNamedTables(services.db.keyed, workbookId, words);
}
