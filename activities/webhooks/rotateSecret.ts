import { notFound } from '../../core/errors.ts';
import { webhookRotated } from '../../core/journal/webhookNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { replaceSecret, type WebhookRecord } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';
import { makeSigningSecret } from './secret.ts';

/** For so long the secret before signs too. */
const overlapMs = 24 * 3600 * 1000;

export async function rotateSecret(services: Services, tx: Tx, { id }: WebhookRecord): Promise<{ webhook: WebhookRecord; secret: string }> {
  const { text, sealed } = makeSigningSecret(services);
  const webhook = await replaceSecret(tx, id, sealed, new Date(tx.at.getTime() + overlapMs));
  if (!webhook) throw notFound('webhook');
  tx.note(webhook.accountId, webhookRotated(id));
  return { webhook, secret: text };
}
