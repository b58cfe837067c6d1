import type { Report } from './embedded/report.ts';

/** npm passes on the signal that the terminal has already given to everyone: two in one moment are one. */
const sameSignalMs = 2000;

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when the process that started us with an IPC channel is gone.
 * A second SIGINT or SIGTERM is from someone who does not want to wait.
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
      // What is left, such as a database in the middle of its shutdown, the reaper ends.
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
