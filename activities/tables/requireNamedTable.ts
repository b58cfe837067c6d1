import type { Principal } from '../../core/access/principal.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';
import { requireTable } from './openTable.ts';

/** The table named in a path, in a workbook where the principal has at least this role. */
export async function requireNamedTable(
  services: Services,
  principal: Principal,
  params: { workbook_id: string; name: string },
  role: 'viewer' | 'editor',
  preferred: 'active' | 'archived' = 'active',
): Promise<TableAt> {
  const workbook = await requireWorkbook(services, principal, params.workbook_id, role);
  return requireTable(services, workbook.id, params.name, preferred);
}
