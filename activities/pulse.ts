import { Context } from '@temporalio/activity';

/** What a long activity is told to do between its steps. */
export interface Pulse {
  heartbeat(): void;
  signal?: AbortSignal;
}

const beatMs = 10_000;

/** One statement or one file can take longer than a heartbeat may: as long as the process lives, it says so. */
export async function beat<T>(work: (pulse: Pulse) => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = () => context.heartbeat();
  const timer = setInterval(heartbeat, beatMs);
  try {
    return await work({ heartbeat, signal: context.cancellationSignal });
  } finally {
    clearInterval(timer);
  }
}
