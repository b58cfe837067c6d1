import type { Principal } from '../../core/access/principal.ts';
import { formatReach } from '../../core/access/reach.ts';
import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import { listWebhooks, type WebhookFilter, type WebhookRecord } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';

/** A session sees all webhooks of its user; a token or key those that `requireWebhook` gives it. */
export async function pageWebhooks(services: Services, principal: Principal, query: PageQuery): Promise<Page<WebhookRecord>> {
  const { userId, accountId, reach, kind } = principal;
  const resource = reach.kind === 'account' ? {} : { resource: formatReach(reach) };
  const filter: WebhookFilter = kind === 'session' ? { userId } : { userId, accountId, ...resource };
  return pageById(
    query,
    'whk',
    (before, limit) => listWebhooks(services.db.orm, filter, { before, limit }),
    (webhook) => webhook.id,
  );
}
