import type { Principal } from '../../core/access/principal.ts';
import { decodeCursor, type Page, type PageQuery, pageOf, usualLimit } from '../../core/paging.ts';
import { fresh } from '../../core/transforms/transform.ts';
import { findTables } from '../../store/pg/discovery.ts';
import type { Services } from '../../store/services.ts';
import { findTransformsOf } from '../tables/findTransformsOf.ts';
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
  const transforms = await findTransformsOf(services, page.items);
  const items = page.items.map(async (table) => ({
    table,
    freshness: transforms.get(table.id)?.freshness ?? fresh,
    seen: await openVisibleColumns(services, principal, { table, columns: table.columns }),
  }));
  return { ...page, items: await Promise.all(items) };
}
