import { webhookDisabled } from '../../core/journal/webhookNotes.ts';
import { planNextTry } from '../../core/webhooks/tries.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import { type DueDelivery, failPending, findNextDelivery, recordTry } from '../../store/pg/deliveries.ts';
import { setWebhookStatus } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';
import { mayHear } from './mayHear.ts';
import { sendDelivery, type Try } from './sendDelivery.ts';

const actor: Actor = { name: 'system', userId: null, credential: 'none', requestId: 'deliver-webhook' };

/**
 * Sends what is due of one queue, a webhook's deliveries of one workbook, in order: the next only when what became of the last is
 * written down. Ends at the first that fails.
 */
export async function deliverQueue(
  services: Services,
  queue: { webhookId: string; scope: string },
  { until, signal }: { until: number; signal: AbortSignal | undefined },
): Promise<void> {
  while (performance.now() < until && !signal?.aborted) {
    const delivery = await findNextDelivery(services.db.pool, queue);
    if (!delivery || (delivery.nextAttemptAt ?? new Date()) > new Date()) return;
    if (!(await deliverOne(services, delivery, signal))) return;
  }
}

/** Returns whether the queue goes on. */
async function deliverOne(services: Services, delivery: DueDelivery, signal: AbortSignal | undefined): Promise<boolean> {
  const isTest = delivery.scope === delivery.webhook.id;
  // Rights are asked again: what the user can no longer see is not sent.
  if (!isTest && !(await acrossAccounts(() => mayHear(services, delivery.webhook, delivery.scope)))) {
    await recordTry(services.db.pool, delivery, { status: 'failed', error: 'Not sent: its user can no longer see the workbook.' });
    return true;
  }
  const tried = await sendDelivery(services, delivery, signal);
  if (tried.verdict === 'gone') await switchOff(services, delivery, tried);
  else await note(services, delivery, tried);
  if (isTest && tried.verdict === 'delivered' && delivery.webhook.status === 'disabled')
    await setWebhookStatus(services.db.pool, delivery.webhook.id, 'active');
  return tried.verdict === 'delivered';
}

async function note({ db, config }: Services, delivery: DueDelivery, { verdict, status, error, retryAfterMs }: Try): Promise<void> {
  if (verdict === 'delivered') return recordTry(db.pool, delivery, { status: 'delivered', lastStatus: status });
  const tries = delivery.tries + 1;
  const next = planNextTry({ tries, at: new Date(), random: Math.random(), retryAfterMs }, config.webhookDelaysMs);
  await recordTry(db.pool, delivery, { status: next ? 'pending' : 'failed', lastStatus: status, error, nextAttemptAt: next });
}

/** With it goes all that waits: whoever switches it on again asks for what they still want. */
async function switchOff(services: Services, delivery: DueDelivery, { status, error }: Try): Promise<void> {
  await recordTry(services.db.pool, delivery, { status: 'failed', lastStatus: status, error });
  await commit(services, actor, async (tx) => {
    const { id, accountId } = delivery.webhook;
    if (!(await setWebhookStatus(tx.client, id, 'disabled'))) return;
    await failPending(tx, id, 'Not sent: the webhook was switched off, because its receiver answered 410.');
    tx.note(accountId, webhookDisabled(id));
  });
}
