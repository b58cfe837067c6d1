import { forfeitKey } from '../../core/credits/planForfeit.ts';
import { accountDeleted } from '../../core/journal/identityNotes.ts';
import { inAccounts } from '../../store/pg/accountScope.ts';
import { countWorkbooksOf, lockClosedAccount } from '../../store/pg/closedAccounts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { lockBooks, sumExpired } from '../../store/pg/credits.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { deleteAccount, purgeAccountRows } from '../../store/pg/purge.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { commitForJob } from '../jobs/commitForJob.ts';
import { succeedJob } from '../jobs/endJob.ts';
import { endPayments } from './endPayments.ts';
import { inClosedAccount } from './inClosedAccount.ts';

/**
 * The last step of a deletion: what is left of the account, and the account. Most rows go before the transaction that ends the
 * job, in batches. Returns false if a workbook was made in the moment of the request, so that the steps before are due again.
 */
export async function removeAccount(services: Services, jobId: string, { heartbeat }: ActivityContext): Promise<boolean> {
  const { pool } = services.db;
  const isRemoved = await inClosedAccount(services, jobId, 'account', async ({ accountId, job }) => {
    if ((await countWorkbooksOf(pool, accountId)) > 0) return false;
    // Once more: a request that was under way when the account was closed may have opened a page since.
    await endPayments(services, accountId, heartbeat);
    await purgeAccountRows(pool, accountId, heartbeat);
    await services.blobs.removeAll(accountId, heartbeat);
    const end = () => commitForJob(services, job, (tx, current) => endDeletion(tx, accountId, current));
    return inAccounts([accountId, job.accountId], end);
  });
  return isRemoved ?? true;
}

async function endDeletion(tx: Tx, accountId: string, job: JobRecord<'delete_account'>): Promise<boolean> {
  await lockClosedAccount(tx, accountId);
  if ((await countWorkbooksOf(tx.client, accountId)) > 0) return false;
  await lockBooks(tx, [accountId]);
  tx.note(job.accountId, accountDeleted(accountId, await sumExpired(tx, accountId, forfeitKey)));
  await deleteAccount(tx.client, accountId);
  await succeedJob(tx, job, {});
  return true;
}
