import type { Report } from './embedded/report.ts';

/** npm forwards a signal that the terminal has already sent to all processes: two within this time count as one. */
const sameSignalMs = 2000;

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when the process that started us with an IPC channel is gone.
 * A second SIGINT or SIGTERM ends the process at once.
 */
export function listenForStop(report: Report, stopHard: () => void): Promise<null> {
  return new Promise((resolve) => {
    let firstMs: number | null = null;
    const stop = () => {
      firstMs ??= Date.now();
      resolve(null);
    };
    const stopOrHurry = () => {
      if (firstMs === null || Date.now() - firstMs <= sameSignalMs) return stop();
      report.say('Stopping hard');
      stopHard();
      // The reaper ends whatever is still running, such as a database that is shutting down.
      setTimeout(() => process.exit(1), 200);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stopOrHurry);
    // Nobody presses these twice: they follow when the terminal or npm goes after its first signal.
    process.on('SIGHUP', stop);
    process.on('disconnect', stop);
    // It may be gone before we got here; that event is not repeated.
    if (process.connected === false) stop();
  });
}
