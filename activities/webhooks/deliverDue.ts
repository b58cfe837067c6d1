import { listQueues } from '../../store/pg/deliveries.ts';
import { attendWebhook, leaveWebhook } from '../../store/pg/webhooks.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { deliverQueue } from './deliverQueue.ts';

const longestMs = 60_000;
/** After the last delivery, so long for another, so that a workflow is not woken for each event. */
const lingerMs = 3_000;
/** Past so many at a time in this process, none stays longer than it has something to send. */
const mostLingering = 300;
/** How many workbooks' queues are sent side by side. */
const mostQueues = 8;
/** For so long the publisher relies on the activity to look again. It does so more often. */
const attentionMs = 20_000;
const lookAgainMs = 5_000;

let present = 0;

/**
 * Sends what a webhook has due, for a minute at most: workbooks side by side, in order within each. Returns in how many
 * milliseconds the next is due; null: nothing waits.
 */
export async function deliverDue(services: Services, webhookId: string, { signal }: ActivityContext): Promise<number | null> {
  // Not by the clock, which may be put back.
  const until = performance.now() + longestMs;
  const active = new Map<string, Promise<void>>();
  let failure: unknown = null;
  let lastWorkAt = performance.now();
  present += 1;
  const begin = (scope: string) => {
    const work = deliverQueue(services, { webhookId, scope }, { until, signal })
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => {
        active.delete(scope);
        lastWorkAt = performance.now();
      });
    active.set(scope, work);
  };
  try {
    while (performance.now() < until && !signal?.aborted && failure === null) {
      // Before the queues are read: what is added after that is seen as one more wish.
      if (!(await attendWebhook(services.db.pool, webhookId, attentionMs))) break;
      const queues = await listQueues(services.db.pool, webhookId);
      const now = Date.now();
      const [due, later] = [queues.filter(({ dueAt }) => dueAt.getTime() <= now), queues.filter(({ dueAt }) => dueAt.getTime() > now)];
      for (const { scope } of due) if (!active.has(scope) && active.size < mostQueues) begin(scope);
      const idleMs = performance.now() - lastWorkAt;
      if (active.size === 0 && (idleMs >= lingerMs || present > mostLingering)) break;
      const lingersMs = active.size === 0 ? lingerMs - idleMs : lookAgainMs;
      const nextMs = Math.min(lookAgainMs, lingersMs, until - performance.now(), ...later.map(({ dueAt }) => dueAt.getTime() - now));
      const left = new AbortController();
      const leaving = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
      const goesOn = await Promise.race([services.webhookWatch.waitForChange(webhookId, '', nextMs, leaving), ...active.values()]);
      left.abort();
      if (goesOn === false) break;
    }
  } catch (error) {
    failure ??= error;
  }
  present -= 1;
  await Promise.all(active.values());
  const isCutShort = failure !== null || signal?.aborted === true;
  const isWanted = await leaveWebhook(services.db.pool, webhookId, isCutShort);
  if (failure !== null) throw failure;
  signal?.throwIfAborted();
  return isWanted ? 0 : findNextDue(services, webhookId);
}

async function findNextDue(services: Services, webhookId: string): Promise<number | null> {
  const queues = await listQueues(services.db.pool, webhookId);
  if (queues.length === 0) return null;
  return Math.max(0, Math.min(...queues.map(({ dueAt }) => dueAt.getTime())) - Date.now());
}
