import type { Principal } from '../../core/access/principal.ts';
import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import { type ConflictStatus, type ListedConflict, listConflicts } from '../../store/pg/conflicts.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleHistory } from '../tables/openVisibleTable.ts';

/** A conflict with its column, as somebody may see it. */
export interface SeenConflict extends ListedConflict {
  column: VisibleColumn;
}

const usualConflicts = 200;

/** Newest first. Those on columns that are denied are left out. */
export async function pageConflicts(
  services: Services,
  principal: Principal,
  workbookId: string,
  query: PageQuery & { status?: ConflictStatus },
): Promise<Page<SeenConflict>> {
  const page = await pageById(
    { ...query, limit: query.limit ?? usualConflicts },
    'cfl',
    (before, limit) => listConflicts(services.db.orm, { workbookId, status: query.status ?? null, before, limit }),
    ({ id }) => id,
  );
  return { ...page, items: await seeConflicts(services, principal, page.items) };
}

export async function seeConflicts(services: Services, principal: Principal, conflicts: ListedConflict[]): Promise<SeenConflict[]> {
  const tables = await listTablesById(services.db.pool, [...new Set(conflicts.map(({ tableId }) => tableId))]);
  const columns = new Map<string, VisibleColumn[]>();
  for (const at of tables) columns.set(at.table.id, (await openVisibleHistory(services, principal, at)).columns);
  return conflicts.flatMap((conflict) => {
    const seen = [rowIdField, ...(columns.get(conflict.tableId) ?? [])].find(({ id }) => id === conflict.columnId);
    return seen ? [{ ...conflict, column: seen }] : [];
  });
}
