const units = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

/** `5GB`, `1.5 TB` or a number of bytes. `unlimited` is Infinity; null: it is no size. */
export function parseSize(text: string): number | null {
  if (text.trim().toLowerCase() === 'unlimited') return Number.POSITIVE_INFINITY;
  const [, digits, name = 'B'] = /^\s*(\d{1,15}(?:\.\d{1,3})?)\s*([kmgt]?b)?\s*$/i.exec(text) ?? [];
  const unit = Object.entries(units).find(([each]) => each.toLowerCase() === name.toLowerCase());
  return digits === undefined || !unit ? null : Math.round(Number(digits) * unit[1]);
}

/** The size for people, such as `1.5 GB`. */
export function describeSize(bytes: number): string {
  const [name, unit] = Object.entries(units).findLast(([, each]) => bytes >= each) ?? ['B', 1];
  return `${Math.round((bytes / unit) * 10) / 10} ${name}`;
}
