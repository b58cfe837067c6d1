import { decodeCursor, type Page, type PageQuery, pageOf, usualLimit } from '../../core/paging.ts';
import { listOps, type OpRecord } from '../../store/pg/ops.ts';
import type { Services } from '../../store/services.ts';

/** The ops of a workbook, newest first. `before` is an op number; the page starts below it. */
export async function pageOps(services: Services, workbookId: string, query: PageQuery & { before?: number }): Promise<Page<OpRecord>> {
  const key = decodeCursor(query.cursor, ['number']);
  const bounds = [...(key ? [key[0] as number] : []), ...(query.before === undefined ? [] : [query.before])];
  const before = bounds.length === 0 ? null : Math.min(...bounds);
  return pageOf(
    query.limit ?? usualLimit,
    (limit) => listOps(services.db.orm, workbookId, { before, limit }),
    (op) => [op.opId],
  );
}
