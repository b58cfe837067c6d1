/** Shared by benchmarks: medians, and measuring works in turn, so that machine load affects all of them. */

export function median(values: number[] = []): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * The median time of each work, after a warm-up round. Every other round goes the other way round: what a work leaves behind for
 * the next, a cache or a process that still cleans up, is then shared by those on both sides of it.
 */
export async function compareInTurn<Name extends string>(
  works: Record<Name, (round: number) => Promise<unknown>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(works) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const ms = await timeMs(() => works[name](round));
      if (round > 0) times.get(name)?.push(ms);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name))])) as Record<Name, number>;
}

/** Prints a figure beside its target; a missed target is marked. */
export function report(what: string, figure: string, wanted: string, isMet: boolean): void {
  console.log(`${isMet ? '  ' : '✗ '}${what.padEnd(58)} ${figure.padStart(10)}   wanted: ${wanted}`);
}
