import { condition, continueAsNew, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/index.ts';

const wake = defineSignal('wake');

/** Each adds about ten events to the history. */
const mostRounds = 50;

/**
 * Delivers the events of one webhook: sends what is due, waits until the next try or until it is woken by new events, and ends
 * when nothing waits. New events then begin it again. What was tried stands in the database.
 */
export async function deliverWebhook(webhookId: string): Promise<void> {
  // Deliveries have a queue of their own, with many places: one that waits for a slow receiver keeps no other work waiting.
  const { deliverDue } = proxyActivities<DeliveryActivities>({
    taskQueue: `${workflowInfo().taskQueue}-deliveries`,
    startToCloseTimeout: '3 minutes',
    heartbeatTimeout: '10 seconds',
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  });
  let isWanted = false;
  setHandler(wake, () => {
    isWanted = true;
  });
  for (let round = 0; round < mostRounds; round += 1) {
    isWanted = false;
    const nextMs = await deliverDue(webhookId);
    if (isWanted || nextMs === 0) continue;
    if (nextMs === null) return;
    await condition(() => isWanted, nextMs);
  }
  await continueAsNew<typeof deliverWebhook>(webhookId);
}
