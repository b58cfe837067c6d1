/** Lets at most so many pieces of work run at a time; the others wait their turn. */
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
      // The place passes to the next in line without being given up, so that nobody slips in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
