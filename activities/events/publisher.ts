import { setTimeout as delay } from 'node:timers/promises';
import { describeErrorForLog } from '../../store/log.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { hasNews } from '../../store/pg/events.ts';
import type { Services } from '../../store/services.ts';
import { wakeWebhooks } from '../webhooks/wakeWebhooks.ts';
import { publishNews } from './publishNews.ts';

/** How often is looked: less often while nothing happens. */
const pauses = { firstMs: 100, mostMs: 500, growth: 1.3, afterFailureMs: 2_000 };

/**
 * Publishes events and wakes the workflows that deliver them until it is stopped. Every worker runs it; they take turns. Nothing
 * is told by the changes themselves: a notification would make all commits of the database wait for each other. Readers of
 * events do not wait for Temporal, so there are two loops.
 */
export async function runPublishers(services: Services, signal: AbortSignal): Promise<void> {
  await Promise.all([repeat(services, signal, () => publishAll(services)), repeat(services, signal, () => wakeWebhooks(services))]);
}

/** Returns whether there was something to do. */
async function publishAll(services: Services): Promise<boolean> {
  if (!(await hasNews(services.db.pool))) return false;
  while (await publishNews(services));
  return true;
}

async function repeat(services: Services, signal: AbortSignal, work: () => Promise<boolean>): Promise<void> {
  let pauseMs = pauses.firstMs;
  while (!signal.aborted) {
    try {
      const isBusy = await acrossAccounts(work);
      pauseMs = isBusy ? pauses.firstMs : Math.min(pauses.mostMs, pauseMs * pauses.growth);
    } catch (error) {
      if (signal.aborted) return;
      services.log.warn(describeErrorForLog(error), 'events not published yet');
      pauseMs = pauses.afterFailureMs;
    }
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}
