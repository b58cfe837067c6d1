import type { Principal } from '../../core/access/principal.ts';
import { isId } from '../../core/ids/ids.ts';
import { decodeCursor, foreignCursor, type Page, type PageQuery, pageOf } from '../../core/paging.ts';
import { listOtherArtifacts, type OtherArtifact } from '../../store/pg/artifacts.ts';
import { listTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { type SeenTable, seeTables } from '../tables/seeTables.ts';

export type SeenArtifact = SeenTable | OtherArtifact;

const usualArtifacts = 100;

/** Tables of a workbook, then charts and sheets, each oldest first. Only tables can be archived. */
export async function pageArtifacts(
  services: Services,
  principal: Principal,
  workbookId: string,
  query: PageQuery & { state?: 'active' | 'archived' },
): Promise<Page<SeenArtifact>> {
  const after = readCursor(query.cursor);
  return pageOf(
    query.limit ?? usualArtifacts,
    async (limit) => {
      const isPastTables = after !== null && !isId(after, 'tbl');
      const tables = isPastTables ? [] : await listTables(services.db.orm, { workbookId, state: query.state, after, limit });
      const left = query.state === 'archived' ? 0 : limit - tables.length;
      const others = await listOtherArtifacts(services.db.pool, { workbookId, after: isPastTables ? after : null, limit: left });
      return [...(await seeTables(services, principal, services.db.orm, tables)), ...others];
    },
    (artifact) => ['table' in artifact ? artifact.table.id : artifact.id],
  );
}

function readCursor(cursor: string | undefined): string | null {
  const [id] = (decodeCursor(cursor, ['string']) ?? []) as string[];
  if (id === undefined) return null;
  if (!isId(id, 'tbl') && !isId(id, 'sht') && !isId(id, 'cht')) throw foreignCursor();
  return id;
}
