import type { Principal } from '../../core/access/principal.ts';
import type { AppendTarget } from '../../core/jobs/sourceJobs.ts';
import type { Services } from '../../store/services.ts';
import { requireExpected } from '../rows/checkVersion.ts';
import { requireEditable } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';

/** Checks the table that rows shall be appended to, so that obvious faults are reported at once. The job checks again. */
export async function checkAppend(
  services: Services,
  principal: Principal,
  workbookId: string,
  wanted: AppendTarget,
): Promise<AppendTarget> {
  const at = await requireTable(services, workbookId, wanted.table);
  requireEditable(at);
  await requireExpected(services, principal, at, wanted.expectedVersion);
  return { ...wanted, table: at.table.name };
}
