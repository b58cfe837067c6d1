import type { Principal } from '../../core/access/principal.ts';
import { formatReach } from '../../core/access/reach.ts';
import { notFound } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import { findWebhook, type WebhookRecord } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';
import { outsideReach } from '../access.ts';

/** A webhook of the caller that hears of nothing beyond the credential's own reach. */
export async function requireWebhook(services: Services, principal: Principal, id: string): Promise<WebhookRecord> {
  const webhook = isId(id, 'whk') ? await findWebhook(services.db.orm, id) : null;
  if (webhook?.userId !== principal.userId) throw notFound('webhook');
  if (principal.kind === 'session') return webhook;
  const { reach, accountId } = principal;
  const isWithin = !webhook.allAccounts && webhook.accountId === accountId;
  if (!isWithin || (reach.kind !== 'account' && webhook.resource !== formatReach(reach))) throw outsideReach(principal, 'The webhook');
  return webhook;
}
