import type { Principal } from '../../core/access/principal.ts';
import { formatReach } from '../../core/access/reach.ts';
import { DomainError } from '../../core/errors.ts';
import { webhookCreated } from '../../core/journal/webhookNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { countWebhooks, insertWebhook, type WebhookRecord } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';
import { makeSigningSecret } from './secret.ts';

/** Bounds what one change of a workbook sets off. */
export const mostWebhooks = 100;

export interface WantedWebhook {
  url: string;
  /** Empty: all kinds. */
  events: string[];
}

/** What can be refused before the transaction. */
export async function planWebhook(services: Services, principal: Principal, wanted: WantedWebhook): Promise<WantedWebhook> {
  await services.outbound.check(wanted.url);
  if ((await countWebhooks(services.db.orm, principal.userId)) >= mostWebhooks)
    throw new DomainError(
      'quota-exceeded',
      `You have ${mostWebhooks} webhooks; there is room for no more.`,
      'Delete one that is not used.',
    );
  return { url: wanted.url, events: [...new Set(wanted.events)] };
}

export async function createWebhook(
  services: Services,
  tx: Tx,
  principal: Principal,
  wanted: WantedWebhook,
): Promise<{ webhook: WebhookRecord; secret: string }> {
  const { text, sealed } = makeSigningSecret(services);
  const webhook = await insertWebhook(tx, {
    id: services.makeId('whk'),
    accountId: principal.accountId,
    userId: principal.userId,
    ...wanted,
    resource: formatReach(principal.reach),
    allAccounts: principal.kind === 'session',
    secret: sealed,
    createdAt: tx.at,
  });
  tx.note(webhook.accountId, webhookCreated(webhook));
  return { webhook, secret: text };
}
