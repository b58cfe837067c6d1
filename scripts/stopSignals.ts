import { isRunByNpm } from '../store/config.ts';
import type { Report } from './embedded/report.ts';

/** npm passes on the signal that the terminal has already given to everyone: two in one moment are one. */
const sameSignalMs = 2000;

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when the process that started us (npm, or one with an IPC channel) is gone.
 * A second one is from someone who does not want to wait.
 */
export function listenForStop(report: Report, stopHard: () => void): Promise<null> {
  return new Promise((resolve) => {
    let firstMs: number | null = null;
    const onSignal = () => {
      if (firstMs === null) {
        firstMs = Date.now();
        resolve(null);
      } else if (Date.now() - firstMs > sameSignalMs) {
        report.say('Stopping hard');
        stopHard();
        // What is left, such as a database in the middle of its shutdown, the reaper ends.
        setTimeout(() => process.exit(1), 200);
      }
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    if (process.channel) process.on('disconnect', onSignal);
    if (isRunByNpm()) watchParent(onSignal);
  });
}

/** npm killed hard passes nothing on; left alone in the background, we would be forgotten. */
function watchParent(onGone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, 1000);
  timer.unref();
}
