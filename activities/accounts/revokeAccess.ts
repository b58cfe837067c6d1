import { WorkflowNotFoundError } from '@temporalio/client';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { revokeAccess as revoke } from '../../store/pg/closedAccounts.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import { purgeDeliveriesAbout, purgeWebhook } from '../../store/pg/purge.ts';
import { listWebhooksOf } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { deliveryWorkflowId } from '../webhooks/wakeWebhooks.ts';
import { endPayments } from './endPayments.ts';
import { inClosedAccount } from './inClosedAccount.ts';

/** The first step of a deletion: keys, tokens and webhooks of the account end, what else lets somebody in, and what could be paid. */
export async function revokeAccess(services: Services, jobId: string, { heartbeat }: ActivityContext): Promise<void> {
  await inClosedAccount(services, jobId, 'revoke', async ({ accountId, job }) => {
    await commit(services, job.actor as Actor, (tx) => revoke(tx, accountId));
    await endPayments(services, accountId, heartbeat);
    for (const webhookId of await listWebhooksOf(services.db.orm, accountId)) {
      heartbeat();
      await endDeliveries(services, webhookId);
      await purgeWebhook(services.db.pool, webhookId, heartbeat);
    }
    await acrossAccounts(() => purgeDeliveriesAbout(services.db.pool, accountId, heartbeat));
  });
}

/** The workflow may be waiting for hours until the next try. */
async function endDeliveries(services: Services, webhookId: string): Promise<void> {
  const { client } = await services.temporal();
  try {
    await client.workflow.getHandle(deliveryWorkflowId(webhookId)).cancel();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
