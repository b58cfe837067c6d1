import type { Principal } from '../../core/access/principal.ts';
import { decodeCursor, type Page, type PageQuery, pageOf, usualLimit } from '../../core/paging.ts';
import { fresh } from '../../core/transforms/transform.ts';
import { findArtifacts } from '../../store/pg/discovery.ts';
import type { Services } from '../../store/services.ts';
import { findTransformsOf } from '../tables/findTransformsOf.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import type { SeenArtifact } from './pageArtifacts.ts';

/** Artifacts of all workbooks that the principal may see and reach. */
export async function pageOwnArtifacts(services: Services, principal: Principal, query: PageQuery): Promise<Page<SeenArtifact>> {
  const { userId, accountIds, reach } = principal;
  const after = decodeCursor(query.cursor, ['string', 'string', 'string']) as [string, string, string] | null;
  const page = await pageOf(
    query.limit ?? usualLimit,
    (limit) => findArtifacts(services.db.pool, { userId, accountIds, reach, terms: [], after, limit }),
    ({ workbookId, name, id }) => [workbookId, name, id],
  );
  const transforms = await findTransformsOf(
    services,
    page.items.flatMap((found) => ('columns' in found ? [found] : [])),
  );
  const items = page.items.map(async (found): Promise<SeenArtifact> => {
    if (!('columns' in found)) return found;
    const seen = await openVisibleColumns(services, principal, { table: found, columns: found.columns });
    return { table: found, freshness: transforms.get(found.id)?.freshness ?? fresh, seen };
  });
  return { ...page, items: await Promise.all(items) };
}
