import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { listBranchTables } from '../../store/pg/branches.ts';
import { listTablesAt, listTablesById } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { requireTable } from '../tables/openTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { openFresh } from '../transforms/refreshViews.ts';

/** The tables to export, all as they are at one moment, in the order in which they were named. */
export async function openExport(
  services: Services,
  principal: Principal,
  workbook: VisibleWorkbook,
  names: string[],
): Promise<VisibleTable[]> {
  const found = await Promise.all(names.map((name) => requireTable(services, workbook.id, name)));
  const ids = found.map(({ table }) => table.id);
  const errors = ids.flatMap((id, i) =>
    ids.indexOf(id) < i ? [{ pointer: `/tables/${i}`, detail: `names the same table as /tables/${ids.indexOf(id)}` }] : [],
  );
  if (errors.length > 0)
    throw new DomainError('validation-failed', 'A table is named twice.', 'Name each table once.', { errors: errors.slice(0, 100) });
  const opened = await openFresh(services, principal.userId, () => listTablesById(services.db.pool, ids));
  const current = new Map(opened.map((at) => [at.table.id, at]));
  return Promise.all(
    ids.map((id) => {
      const at = current.get(id);
      if (!at || at.table.deletedAt) throw notFound('table in this workbook', 'It was deleted a moment ago.');
      return openVisibleTable(services, principal, at);
    }),
  );
}

/** The tables of a branch as they were when it was recorded. */
export async function reopenBranch(services: Services, principal: Principal, branchId: string): Promise<VisibleTable[]> {
  const branched = await listBranchTables(services.db.orm, branchId);
  const wanted = branched.map(({ tableId, baseVersion }) => ({ tableId, editVersion: baseVersion }));
  const found = new Map((await listTablesAt(services.db.pool, wanted)).map((at) => [at.table.id, at]));
  return Promise.all(
    branched.map(({ tableId }) => {
      const at = found.get(tableId);
      if (!at)
        throw new DomainError('expired', 'A table of the branch is not kept any more.', 'Export again with another Idempotency-Key.');
      return openVisibleTable(services, principal, at);
    }),
  );
}
