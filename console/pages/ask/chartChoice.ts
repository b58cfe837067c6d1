/** What somebody chose for a chart. */
export interface Choice {
  mark: 'bar' | 'line' | 'point' | 'arc' | 'area';
  x: string;
  y: string;
  color: string;
  sum: 'none' | 'sum' | 'mean' | 'count' | 'max' | 'min';
}

export const marks: Choice['mark'][] = ['bar', 'line', 'point', 'area', 'arc'];
export const sums: Choice['sum'][] = ['none', 'sum', 'mean', 'count', 'max', 'min'];

/** A first guess: what is no number goes across, the first number up, times as lines. */
export function guessChoice(columns: { name: string; type: string }[]): Choice {
  const isNumber = ({ type }: { type: string }) => /^(BIGINT|DOUBLE|DECIMAL|INTEGER|HUGEINT|FLOAT)/i.test(type);
  const y = columns.find(isNumber) ?? columns.at(-1);
  const x = columns.find((column) => column !== y && !isNumber(column)) ?? columns.find((column) => column !== y) ?? y;
  return { mark: /^(DATE|TIMESTAMP)/i.test(x?.type ?? '') ? 'line' : 'bar', x: x?.name ?? '', y: y?.name ?? '', color: '', sum: 'none' };
}

/** What the address says, as far as it fits the columns; else a guess. */
export function readChoice(query: URLSearchParams, columns: { name: string; type: string }[]): Choice {
  const guess = guessChoice(columns);
  const pick = <T extends string>(key: keyof Choice, allowed: readonly string[], otherwise: T): T => {
    const given = query.get(key);
    return given !== null && allowed.includes(given) ? (given as T) : otherwise;
  };
  const names = columns.map(({ name }) => name);
  return {
    mark: pick('mark', marks, guess.mark),
    x: pick('x', names, guess.x),
    y: pick('y', names, guess.y),
    color: pick('color', names, guess.color),
    sum: pick('sum', sums, guess.sum),
  };
}
