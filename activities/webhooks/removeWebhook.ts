import { notFound } from '../../core/errors.ts';
import { webhookDeleted } from '../../core/journal/webhookNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { deleteWebhook, type WebhookRecord } from '../../store/pg/webhooks.ts';

/** With what still waits to be delivered. */
export async function removeWebhook(tx: Tx, webhook: WebhookRecord): Promise<void> {
  if (!(await deleteWebhook(tx, webhook.id))) throw notFound('webhook');
  tx.note(webhook.accountId, webhookDeleted(webhook.id));
}
