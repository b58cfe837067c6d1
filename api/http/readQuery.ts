/**
 * The parameters of an address; those that stand in it several times as lists. Koa has a reader of its own, which takes time
 * that grows with the square of their number.
 */
export function readQuery(querystring: string): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(querystring)) {
    const before = values.get(name);
    if (Array.isArray(before)) before.push(value);
    else values.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(values);
}
