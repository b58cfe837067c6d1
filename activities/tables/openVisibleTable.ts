import type { Principal } from '../../core/access/principal.ts';
import type { TableAt } from '../../core/table/table.ts';
import { seeColumns, type VisibleColumns, type VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';

/** A table at a version, as the principal may see it: once per request and table, for every reader of it. */
export async function openVisibleTable(services: Services, principal: Principal, at: TableAt): Promise<VisibleTable> {
  return { at, ...(await openVisibleColumns(services, principal, at)) };
}

/** The columns alone, of a table that is only named or described, or of several versions of it. */
export async function openVisibleColumns(
  services: Services,
  principal: Principal,
  { table, columns }: Pick<TableAt, 'table' | 'columns'>,
): Promise<VisibleColumns> {
  return seeColumns(columns, await services.policies.columnEffects(principal, { table, columns }));
}
