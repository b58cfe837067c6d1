import type { Principal } from '../../core/access/principal.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { requireNamedTable } from '../tables/requireNamedTable.ts';
import { freshen } from './refreshViews.ts';

/** The table named in a path, for somebody who reads its content: a view is brought up to date. */
export async function requireFreshTable(
  services: Services,
  principal: Principal,
  params: { workbook_id: string; name: string },
): Promise<TableAt> {
  return freshen(services, principal.userId, await requireNamedTable(services, principal, params, 'viewer'));
}
