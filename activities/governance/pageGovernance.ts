import type { Principal } from '../../core/access/principal.ts';
import { decodeCursor, type Page, type PageQuery, pageOf } from '../../core/paging.ts';
import { type ClassificationKey, type ClassificationRecord, listClassifications } from '../../store/pg/classifications.ts';
import { listPolicies, type PolicyRecord } from '../../store/pg/governance.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { askerIn } from '../../store/policies.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

const usualItems = 500;

/** The rules of a workbook by tag and role. */
export async function pagePolicies(services: Services, workbookId: string, query: PageQuery): Promise<Page<PolicyRecord>> {
  const after = decodeCursor(query.cursor, ['string', 'string']) as [string, string] | null;
  return pageOf(
    query.limit ?? usualItems,
    (limit) => listPolicies(services.db.orm, workbookId, after, limit),
    ({ tag, role }) => [tag, role],
  );
}

/** The tags of a workbook by table, column and tag. Columns that are denied to the caller are left out, unless they may set policies. */
export async function pageClassifications(
  services: Services,
  principal: Principal,
  workbook: VisibleWorkbook,
  query: PageQuery,
): Promise<Page<ClassificationRecord>> {
  const after = decodeCursor(query.cursor, ['string', 'number', 'string']) as ClassificationKey | null;
  const page = await pageOf(
    query.limit ?? usualItems,
    (limit) => listClassifications(services.db.pool, workbook.id, after, limit),
    ({ tableId, columnId, tag }) => [tableId, columnId, tag],
  );
  if (askerIn(workbook, principal).mayConfigure) return page;
  const seen = await findSeen(services, principal, page.items);
  const items = page.items
    .filter(({ tableId, columnId }) => seen(tableId, columnId))
    .map((item) => (seen(item.fromTableId, item.fromColumnId) ? item : { ...item, fromTable: null, fromColumn: null }));
  return { ...page, items };
}

/** Which of the columns in a page the caller may see. */
async function findSeen(services: Services, principal: Principal, items: ClassificationRecord[]) {
  const ids = new Set(items.flatMap(({ tableId, fromTableId }) => [tableId, ...(fromTableId ? [fromTableId] : [])]));
  const seen = new Map<string, Set<number>>();
  for (const at of await listTablesById(services.db.pool, [...ids])) {
    const { columns } = await openVisibleColumns(services, principal, at);
    seen.set(at.table.id, new Set(columns.map(({ id }) => id)));
  }
  return (tableId: string | null, columnId: number | null) => tableId !== null && (seen.get(tableId)?.has(columnId ?? 0) ?? false);
}
