import { Context } from '@temporalio/activity';

/** Heartbeat and cancellation for a long activity. */
export interface ActivityContext {
  heartbeat(): void;
  signal?: AbortSignal;
  /** From 1. */
  attempt?: number;
}

/** A cancellation reaches an activity with the answer to a heartbeat. */
const heartbeatMs = 2_000;

/** Sends heartbeats while `work` runs, as a single statement or file can take longer than the heartbeat timeout. */
export async function withHeartbeat<T>(work: (activity: ActivityContext) => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = () => context.heartbeat();
  const timer = setInterval(heartbeat, heartbeatMs);
  try {
    return await work({ heartbeat, signal: context.cancellationSignal, attempt: context.info.attempt });
  } finally {
    clearInterval(timer);
  }
}
