import { countWorkbooksOf, listWorkbooksOf } from '../../store/pg/closedAccounts.ts';
import { purgeWorkbook } from '../../store/pg/purge.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { inClosedAccount } from './inClosedAccount.ts';

const workbooksAtATime = 50;

/** Removes some workbooks of the account with all their rows and blobs. Returns whether there may be more. */
export async function deleteWorkbooks(services: Services, jobId: string, { heartbeat, signal }: ActivityContext): Promise<boolean> {
  const hasMore = await inClosedAccount(services, jobId, 'workbooks', async ({ accountId, job: { done }, report }) => {
    const { pool } = services.db;
    const total = done + (await countWorkbooksOf(pool, accountId));
    const ids = await listWorkbooksOf(pool, accountId, workbooksAtATime);
    for (const [index, id] of ids.entries()) {
      signal?.throwIfAborted();
      await purgeWorkbook(pool, services.blobs, { id, accountId }, heartbeat);
      await report(done + index + 1, total);
    }
    return ids.length === workbooksAtATime;
  });
  return hasMore ?? false;
}
