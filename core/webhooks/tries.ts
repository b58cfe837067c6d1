const secondMs = 1000;
const longestWaitMs = 24 * 3600 * secondMs;

/** When to try again, after so many tries that failed; null: not any more. `random` is drawn once for each try, from 0 to 1. */
export function planNextTry(
  { tries, at, random, retryAfterMs }: { tries: number; at: Date; random: number; retryAfterMs: number | null },
  delaysMs: readonly number[],
): Date | null {
  const delayMs = delaysMs[tries - 1];
  if (delayMs === undefined) return null;
  // Later by up to a tenth, so that those that failed together do not come back together.
  const waitMs = Math.max(delayMs * (1 + random / 10), Math.min(retryAfterMs ?? 0, longestWaitMs));
  return new Date(at.getTime() + Math.round(waitMs));
}
