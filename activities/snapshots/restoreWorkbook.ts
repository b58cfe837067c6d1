import type { WriteAnswer } from '../../store/pg/commit.ts';
import type { SnapshotRecord } from '../../store/pg/snapshots.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { planRestore } from './planRestore.ts';
import { type Restored, restoreSnapshot } from './restoreSnapshot.ts';

/** Plans and applies a restore; retries if tables were created or deleted meanwhile. With a label it reverts to a version. */
export function restoreWorkbook<Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  workbook: VisibleWorkbook,
  { snapshot, label }: { snapshot: SnapshotRecord; label: string | null },
  answer: (restored: Restored) => Answer,
): Promise<Answer> {
  return retryOnMove(async () => {
    const plan = await planRestore(services.db, snapshot);
    return write((tx) => restoreSnapshot(tx, workbook, plan, label), answer);
  });
}
