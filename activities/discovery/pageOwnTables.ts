import type { Principal } from '../../core/access/principal.ts';
import { decodeCursor, type Page, type PageQuery, pageOf, usualLimit } from '../../core/paging.ts';
import { findTables } from '../../store/pg/discovery.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import type { SeenTable } from '../tables/seeTables.ts';

/** Tables of all workbooks that the principal may see and reach. */
export async function pageOwnTables(services: Services, principal: Principal, query: PageQuery): Promise<Page<SeenTable>> {
  const { userId, accountIds, reach } = principal;
  const after = decodeCursor(query.cursor, ['string', 'string', 'string']) as [string, string, string] | null;
  const page = await pageOf(
    query.limit ?? usualLimit,
    (limit) => findTables(services.db.pool, { userId, accountIds, reach, terms: [], after, limit }),
    (table) => [table.workbookId, table.name, table.id],
  );
  const items = page.items.map(async (table) => ({
    table,
    seen: await openVisibleColumns(services, principal, { table, columns: table.columns }),
  }));
  return { ...page, items: await Promise.all(items) };
}
