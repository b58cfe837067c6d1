import { describeEvent } from '../../core/journal/serviceEvent.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import { insertDeliveries, listListeners, type NewDelivery } from '../../store/pg/deliveries.ts';
import { hasNews, type PublishedEvent, publishEvents } from '../../store/pg/events.ts';
import type { WebhookRecord } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';
import { mayHear, type Place } from '../webhooks/mayHear.ts';

const actor: Actor = { name: 'system', userId: null, credential: 'none', requestId: 'publish-events' };

const mostAtOnce = 200;

/**
 * Publishes the next events: gives them their places and queues them for the webhooks that want them, in one transaction. Apart
 * from the changes themselves, so that these cost the same whoever listens. Returns whether there may be more.
 */
export async function publishNews(services: Services): Promise<boolean> {
  const { result } = await commit(services, actor, async (tx) => {
    const events = (await publishEvents(tx, mostAtOnce)) ?? [];
    const heard = await findListeners(services, events);
    await insertDeliveries(
      tx,
      events.flatMap((event) => (heard.get(event.scope) ?? []).flatMap((listener) => deliver(services, event, listener))),
    );
    return events.length;
  });
  return result === mostAtOnce;
}

/** What has happened until now is published before, as far as others let us and that does not take long. */
export function publishUntilNow(services: Services): Promise<void> {
  return acrossAccounts(async () => {
    const untilMs = performance.now() + patienceMs;
    while ((await hasNews(services.db.pool)) && performance.now() < untilMs) await publishNews(services);
  });
}

const patienceMs = 2_000;

interface Hearing {
  webhook: WebhookRecord;
  place: Place;
}

async function findListeners(services: Services, events: PublishedEvent[]): Promise<Map<string, Hearing[]>> {
  const scopes = [...new Set(events.map(({ scope }) => scope))];
  const heard = new Map<string, Hearing[]>();
  if (scopes.length === 0) return heard;
  const candidates = await listListeners(services.db.pool, scopes);
  await Promise.all(
    candidates.map(async ({ scope, webhook }) => {
      const place = await mayHear(services, webhook, scope);
      if (place) heard.set(scope, [...(heard.get(scope) ?? []), { webhook, place }]);
    }),
  );
  return heard;
}

function deliver(services: Services, event: PublishedEvent, { webhook, place }: Hearing): NewDelivery[] {
  const wants = webhook.events.length === 0 || webhook.events.includes(event.type);
  if (!wants) return [];
  return [
    {
      id: services.makeId('dlv'),
      webhookId: webhook.id,
      accountId: webhook.accountId,
      scope: event.scope,
      position: event.position,
      workbookId: place.workbookId,
      eventId: event.id,
      type: event.type,
      payload: JSON.stringify(describeEvent({ ...event, ...place })),
      createdAt: event.createdAt,
    },
  ];
}
