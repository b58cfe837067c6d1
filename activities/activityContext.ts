import { Context } from '@temporalio/activity';
import { PartAwayError } from '../core/errors.ts';
import { explainAway } from '../store/explainAway.ts';

/** Heartbeat and cancellation for a long activity. */
export interface ActivityContext {
  heartbeat(): void;
  signal?: AbortSignal;
  /** From 1. */
  attempt?: number;
}

/** A cancellation reaches an activity with the answer to a heartbeat. */
const heartbeatMs = 2_000;

/** How long a part that is away is waited for, before that counts as a try that failed. */
const mostWaitMs = 10 * 60_000;
const longestPauseMs = 15_000;

/**
 * Sends heartbeats while `work` runs, as a single statement or file can take longer than the heartbeat timeout. While the database
 * or the blob store is away, or the disk full, it is done again after a pause: only few tries are for what else may fail.
 */
export async function withHeartbeat<T>(work: (activity: ActivityContext) => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = () => context.heartbeat();
  const timer = setInterval(heartbeat, heartbeatMs);
  const untilMs = Date.now() + mostWaitMs;
  try {
    for (let attempt = context.info.attempt, pauseMs = 1_000; ; attempt += 1, pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await work({ heartbeat, signal: context.cancellationSignal, attempt });
      } catch (error) {
        if (!(explainAway(error) instanceof PartAwayError) || Date.now() + pauseMs > untilMs) throw error;
        await context.sleep(pauseMs);
      }
    }
  } finally {
    clearInterval(timer);
  }
}
