import { DomainError, notFound } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type DeliveryRecord, requeueDelivery } from '../../store/pg/deliveries.ts';
import type { WebhookRecord } from '../../store/pg/webhooks.ts';

/** Puts a delivery back into its queue, where its event's place is before all later ones. */
export async function redeliver(tx: Tx, webhook: WebhookRecord, deliveryId: string): Promise<DeliveryRecord> {
  if (webhook.status === 'disabled')
    throw new DomainError(
      'in-use',
      'The webhook is switched off.',
      'Switch it on by a test that its receiver accepts, then deliver again.',
    );
  const delivery = isId(deliveryId, 'dlv') ? await requeueDelivery(tx, webhook.id, deliveryId) : null;
  if (!delivery) throw notFound('delivery', 'Check the id; deliveries are kept for 30 days.');
  return delivery;
}
