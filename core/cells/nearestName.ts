/** The most similar name, for "did you mean"; null when less than half of the characters agree. */
export function nearestName(given: string, names: readonly string[]): string | null {
  const limit = Math.max(2, Math.floor(given.length / 3));
  let best: { name: string; distance: number } | null = null;
  for (const name of names.slice(0, 1000)) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase(), limit);
    if (distance <= limit && distance * 2 <= Math.max(given.length, name.length) && (!best || distance < best.distance))
      best = { name, distance };
  }
  return best?.name ?? null;
}

/** Levenshtein distance; any number above `limit` when it is larger. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((previous[j] as number) + 1, (current[j - 1] as number) + 1, substituted));
    }
    previous = current;
  }
  return previous[b.length] as number;
}
