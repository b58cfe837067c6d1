import { describeErrorForLog } from '../../store/log.ts';
import { claimWantedWebhooks, giveBackWebhooks } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';
import { searchAttributes } from '../../store/temporal/searchAttributes.ts';

const mostAtOnce = 50;
/** If nobody has come to the webhook by then, its workflow is told again. */
const claimMs = 10_000;

/**
 * Tells the workflows of webhooks that deliveries wait, unless one of their activities will see for itself. That they are wanted
 * stands in the database until an activity has seen it, so nothing is lost when this process or Temporal goes away. Returns
 * whether there were any.
 */
export async function wakeWebhooks(services: Services): Promise<boolean> {
  const wanted = await claimWantedWebhooks(services.db.pool, mostAtOnce, claimMs);
  if (wanted.length === 0) return false;
  const failed: string[] = [];
  let reason: unknown;
  await Promise.all(
    wanted.map((webhook) =>
      wakeWebhook(services, webhook).catch((error: unknown) => {
        reason = error;
        failed.push(webhook.id);
      }),
    ),
  );
  if (failed.length > 0) {
    services.log.warn({ webhooks: failed.length, ...describeErrorForLog(reason) }, 'webhooks not woken yet');
    await giveBackWebhooks(services.db.pool, failed);
  }
  return failed.length < wanted.length;
}

export const deliveryWorkflowId = (webhookId: string) => `deliver-${webhookId}`;

async function wakeWebhook(services: Services, webhook: { id: string; accountId: string }): Promise<void> {
  const { client } = await services.temporal();
  await client.workflow.signalWithStart('deliverWebhook', {
    workflowId: deliveryWorkflowId(webhook.id),
    taskQueue: services.config.temporal.taskQueue,
    args: [webhook.id],
    signal: 'wake',
    staticSummary: `deliver ${webhook.id}`,
    typedSearchAttributes: searchAttributes({ kind: 'webhook', account: webhook.accountId }),
  });
}
