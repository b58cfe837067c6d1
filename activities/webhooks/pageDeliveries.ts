import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import { type DeliveryRecord, listDeliveries } from '../../store/pg/deliveries.ts';
import type { WebhookRecord } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';

export async function pageDeliveries(services: Services, webhook: WebhookRecord, query: PageQuery): Promise<Page<DeliveryRecord>> {
  return pageById(
    query,
    'dlv',
    (before, limit) => listDeliveries(services.db.orm, webhook.id, { before, limit }),
    (delivery) => delivery.id,
  );
}
