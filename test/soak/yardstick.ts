import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Yardstick {
  /** Milliseconds since it began, and how long the answer took. */
  asked: { at: number; ms: number }[];
  stop(): Promise<void>;
}

const pauseMs = 250;

/**
 * Asks a bare server on the same machine the same thing again and again. What becomes slower there is the machine's doing: other
 * machines take a part of it that changes by the minute.
 */
export async function startYardstick(): Promise<Yardstick> {
  const child = fork(fileURLToPath(new URL('./bareServer.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
  const [port] = await once(child, 'message');
  const asked: Yardstick['asked'] = [];
  const done = new AbortController();
  const began = performance.now();
  const asking = (async () => {
    while (!done.signal.aborted) {
      const at = performance.now() - began;
      await (await fetch(`http://127.0.0.1:${port}`)).text();
      asked.push({ at, ms: performance.now() - began - at });
      await delay(pauseMs, undefined, { signal: done.signal }).catch(() => {});
    }
  })();
  return {
    asked,
    async stop() {
      done.abort();
      await asking;
      child.disconnect();
    },
  };
}
