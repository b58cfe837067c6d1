/**
 * The text of a JSON object: some fields, and lists whose items are JSON texts already. Rows are such texts, because a number
 * that passed through JavaScript could lose digits.
 */
export function writeObject(fields: object, lists: Record<string, string[]>): string {
  const members = Object.entries(lists).map(([name, items]) => `${JSON.stringify(name)}:[${items.join(',')}]`);
  return `${JSON.stringify(fields).slice(0, -1)},${members.join(',')}}`;
}
