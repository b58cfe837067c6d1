/** As DuckDB compares names: without regard to the case of ASCII letters, and of no others. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Result columns need names of their own, also for a reader that ignores case: `a`, `a_2`, `a_3`. */
export function makeUnique(names: string[]): string[] {
  const taken = new Set(names.map(foldName));
  const used = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let i = 2; used.has(foldName(unique)); i += 1) {
      const candidate = `${name}_${i}`;
      if (!taken.has(foldName(candidate))) unique = candidate;
    }
    used.add(foldName(unique));
    taken.add(foldName(unique));
    return unique;
  });
}

/** A name in a message: short, and on one line. */
export function showName(name: string): string {
  const line = name.replace(/\p{Cc}+/gu, ' ');
  return `"${line.length > 100 ? `${line.slice(0, 100)}…` : line}"`;
}
