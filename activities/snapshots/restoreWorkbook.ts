import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { SnapshotRecord } from '../../store/pg/snapshots.ts';
import { hasStaleTables } from '../../store/pg/transforms.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { beginJob } from '../jobs/beginJob.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { planRestore } from './planRestore.ts';
import { type Restored, restoreSnapshot } from './restoreSnapshot.ts';

/** What a restore has done, and the job that runs derived tables after it; null if none must be run. */
export interface BegunRestore {
  restored: Restored;
  job: JobRecord | null;
}

/**
 * Plans and applies a restore; retries if tables were created or deleted meanwhile. With a label it reverts to a version. `hand`
 * runs what it is given in a transaction.
 */
export function restoreWorkbook<Answer>(
  services: Services,
  hand: (begin: (tx: Tx) => Promise<BegunRestore>) => Promise<Answer>,
  workbook: VisibleWorkbook,
  { snapshot, label }: { snapshot: SnapshotRecord; label: string | null },
): Promise<Answer> {
  return retryOnMove(async () => {
    const plan = await planRestore(services.db, snapshot);
    return hand(async (tx) => {
      const restored = await restoreSnapshot(tx, workbook, plan, label);
      if (!(await hasStaleTables(tx.client, workbook.id))) return { restored, job: null };
      return { restored, job: await beginJob(tx, 'restore', { workbookId: workbook.id, accountId: workbook.accountId }, restored) };
    });
  });
}
