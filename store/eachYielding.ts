import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long to work before other requests may run. */
const turnMs = 10;

/** Works on each item in turn, letting other requests run in between. */
export async function eachYielding<T>(items: Iterable<T>, work: (item: T, index: number) => void): Promise<void> {
  let began = performance.now();
  let index = 0;
  for (const item of items) {
    work(item, index);
    index += 1;
    if (performance.now() - began < turnMs) continue;
    await nextTurn();
    began = performance.now();
  }
}
