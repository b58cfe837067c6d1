import { type EventKind, type EventType, eventKinds } from '../../core/journal/events.ts';
import { describeEvent, type StoredEvent } from '../../core/journal/serviceEvent.ts';
import type { components } from '../../schema/contract.ts';
import type { DeliveryRecord } from '../../store/pg/deliveries.ts';
import type { WebhookRecord } from '../../store/pg/webhooks.ts';

type Schemas = components['schemas'];

export function presentWebhook(webhook: WebhookRecord): Schemas['Webhook'] {
  const { previousSecretExpiresAt: until } = webhook;
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events.length > 0 ? (webhook.events as EventKind[]) : [...eventKinds],
    status: webhook.status,
    resource: webhook.resource,
    created_at: webhook.createdAt.toISOString(),
    previous_secret_expires_at: until && until > new Date() ? until.toISOString() : null,
  };
}

export function presentEvent(event: StoredEvent): Schemas['ServiceEvent'] {
  return describeEvent(event) as Schemas['ServiceEvent'];
}

const time = (date: Date | null) => date?.toISOString() ?? null;

export function presentDelivery(delivery: DeliveryRecord): Schemas['Delivery'] {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type as EventType,
    workbook_id: delivery.workbookId,
    status: delivery.status,
    attempts: delivery.attempts,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    next_attempt_at: time(delivery.nextAttemptAt),
    created_at: delivery.createdAt.toISOString(),
    delivered_at: time(delivery.deliveredAt),
  };
}
