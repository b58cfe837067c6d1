import type { Principal } from '../../core/access/principal.ts';
import type { AppendTarget } from '../../core/jobs/sourceJobs.ts';
import type { Services } from '../../store/services.ts';
import { checkVersion } from '../rows/checkVersion.ts';
import { requireEditable } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';

/** Checks the table that rows shall be appended to, so that obvious faults are reported at once. The job checks again. */
export async function checkAppend(
  services: Services,
  principal: Principal,
  workbookId: string,
  wanted: AppendTarget,
): Promise<AppendTarget> {
  const at = await requireTable(services, workbookId, wanted.table);
  requireEditable(at);
  const { columns } = await openVisibleTable(services, principal, at);
  await checkVersion(services, at, wanted.expectedVersion, columns, null);
  return { ...wanted, table: at.table.name };
}
