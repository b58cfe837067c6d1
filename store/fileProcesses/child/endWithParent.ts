import { Worker } from 'node:worker_threads';

const lookEveryMs = 500;

/**
 * Ends the process when the one that started it is gone. A thread of its own looks, because work on a file can keep the main
 * one busy for minutes, in which it does not notice that its socket is closed.
 */
export function endWithParent(): void {
  const look = `
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), ${lookEveryMs});`;
  new Worker(look, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16, stackSizeMb: 1 } }).unref();
}
