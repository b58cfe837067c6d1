/** Places in the inputs of a query: a column of a table, or the rows of a table. Numbered by `numberInputs`. */
export type Places = ReadonlySet<number>;

/** What a column of a part of a query depends on, beside what decides the rows of that part. */
export interface Origin {
  /** What its expression reads. */
  computedFrom: Places;
  /** What picked the values it was computed from: groupings, windows, conditions of subqueries. */
  decidedBy: Places;
}

/** What a part of a query gives. */
export interface PartOrigins {
  /** By place. Null: the part is of an unknown kind, so that any column depends on everything. */
  columns: Origin[] | null;
  /** What decides which rows there are and their order: filters, joins, groupings. Every column depends on it. */
  rows: Places;
}

export const nowhere: Places = new Set();
export const constant: Origin = { computedFrom: nowhere, decidedBy: nowhere };

export function unite(...sets: Places[]): Places {
  const filled = sets.filter((set) => set.size > 0);
  const [first = nowhere, ...others] = filled.sort((a, b) => b.size - a.size);
  const added = others.filter((set) => set !== first).flatMap((set) => [...set].filter((place) => !first.has(place)));
  return added.length === 0 ? first : new Set([...first, ...added]);
}

/** A column computed from several. */
export function mix(origins: Origin[]): Origin {
  const [first = constant] = origins;
  if (origins.length <= 1) return first;
  return {
    computedFrom: unite(...origins.map(({ computedFrom }) => computedFrom)),
    decidedBy: unite(...origins.map(({ decidedBy }) => decidedBy)),
  };
}

/** All that a column depends on, as something that decides others. */
export const flatten = ({ computedFrom, decidedBy }: Origin): Places => unite(computedFrom, decidedBy);

export const decide = (origin: Origin, by: Places): Origin => ({ ...origin, decidedBy: unite(origin.decidedBy, by) });
