import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Temporal's words about starting, stopping and replays that fail as they should are of no use in tests, and its signals are vitest's. */
export function quietTemporal(): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR', () => {}),
      telemetryOptions: { logging: { filter: 'OFF' } },
      shutdownSignals: [],
    });
  } catch (error) {
    // Test files share a process; the one before may not have let go of it yet.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
