import { notFound } from '../../core/errors.ts';
import { describeEvent } from '../../core/journal/serviceEvent.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type DeliveryRecord, findDelivery, insertDeliveries } from '../../store/pg/deliveries.ts';
import { takePosition } from '../../store/pg/events.ts';
import type { WebhookRecord } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';

/** Queues an event that nothing but this webhook hears of, also while it is switched off. */
export async function testWebhook(services: Services, tx: Tx, webhook: WebhookRecord): Promise<DeliveryRecord> {
  const [id, eventId] = [services.makeId('dlv'), services.makeId('evt')];
  const event = describeEvent({
    id: eventId,
    type: 'webhook.test',
    actor: tx.actor.name,
    data: { webhook_id: webhook.id },
    createdAt: tx.at,
    workbookId: null,
    workspaceId: null,
  });
  await insertDeliveries(tx, [
    {
      id,
      webhookId: webhook.id,
      accountId: webhook.accountId,
      scope: webhook.id,
      position: await takePosition(tx),
      workbookId: null,
      eventId,
      type: event.type,
      payload: JSON.stringify(event),
      createdAt: tx.at,
    },
  ]);
  const delivery = await findDelivery(tx, id);
  if (!delivery) throw notFound('webhook');
  return delivery;
}
