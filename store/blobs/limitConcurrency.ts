/** Runs work when a slot is free; at most `width` run at a time. */
export type RunLimited = <T>(work: () => Promise<T>) => Promise<T>;

export function limitConcurrency(width: number): RunLimited {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // Hands the slot to the next in line without freeing it, so that a newcomer cannot take it.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
