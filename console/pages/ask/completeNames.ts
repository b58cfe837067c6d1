/** Names of tables, and of their columns. */
export type Names = Record<string, string[]>;

export interface Offer {
  label: string;
  /** What is written in its place. */
  apply: string;
  kind: 'table' | 'column';
  /** Whether it is likely to be meant. */
  isNear: boolean;
}

export interface Offers {
  /** Where the name begins that is completed. */
  from: number;
  offers: Offer[];
}

/** Names in any script. What the language brings along completes those in Latin letters only. */
const plain = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const begun = /(?:(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_]*))\.)?("?)([\p{L}\p{N}_]*)$/u;

/**
 * What may be meant by what is begun at the end of a text: behind a table and a dot its columns, else tables and columns, those of tables
 * that the query names first. Names that need quotes get them.
 */
export function completeNames(names: Names, query: string, upTo: number, isAsked = false): Offers | null {
  const [, quotedTable, plainTable, quote = '', name = ''] = begun.exec(query.slice(0, upTo)) ?? [];
  const owner = (quotedTable?.replaceAll('""', '"') ?? plainTable)?.toLowerCase();
  if (!isAsked && name === '' && quote === '' && owner === undefined) return null;
  const write = (each: string) => {
    const quoted = `"${each.replaceAll('"', '""')}"`;
    return quote ? quoted.slice(1) : plain.test(each) ? each : quoted;
  };
  const offer = (kind: Offer['kind'], isNear: boolean) => (label: string) => ({ label, apply: write(label), kind, isNear });
  const tables = Object.keys(names);
  const owned = tables.find((each) => each.toLowerCase() === owner);
  const near = tables.filter((each) => query.includes(each));
  const columnsOf = (some: string[]) => [...new Set(some.flatMap((each) => names[each] ?? []))];
  const nearColumns = columnsOf(owned ? [owned] : near);
  const farColumns = columnsOf(tables).filter((each) => !nearColumns.includes(each));
  const offers = owned
    ? nearColumns.map(offer('column', true))
    : [...nearColumns.map(offer('column', true)), ...tables.map(offer('table', true)), ...farColumns.map(offer('column', false))];
  return { from: upTo - name.length, offers };
}
