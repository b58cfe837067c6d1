import type { Principal } from '../../core/access/principal.ts';
import type { TableAt } from '../../core/table/table.ts';
import { seeColumns, type VisibleColumns, type VisibleTable } from '../../core/table/visibleTable.ts';
import { listColumnsEver } from '../../store/pg/columns.ts';
import type { Services } from '../../store/services.ts';

/** A table at a version, as the principal may see it. Called once per request and table; every reader takes the result. */
export async function openVisibleTable(services: Services, principal: Principal, at: TableAt): Promise<VisibleTable> {
  return { at, ...(await openVisibleColumns(services, principal, at)) };
}

/** With every column the table ever had, under its newest name: for readers of several versions. */
export async function openVisibleHistory(services: Services, principal: Principal, at: TableAt): Promise<VisibleTable> {
  return openVisibleTable(services, principal, { ...at, columns: await listColumnsEver(services.db.orm, at.table.id) });
}

/** For requests that may open a table several times: asks the policies once per version. */
export function rememberVisible(services: Services, principal: Principal): (at: TableAt) => Promise<VisibleTable> {
  const seen = new Map<string, Promise<VisibleTable>>();
  return (at) => {
    const known = seen.get(at.versionUid) ?? openVisibleTable(services, principal, at);
    seen.set(at.versionUid, known);
    return known;
  };
}

/** Only the columns: for tables that are named or described, or for several versions. */
export async function openVisibleColumns(
  services: Services,
  principal: Principal,
  { table, columns }: Pick<TableAt, 'table' | 'columns'>,
): Promise<VisibleColumns> {
  return seeColumns(columns, await services.policies.columnEffects(principal, { table, columns }));
}
