/** What a search looks at. Must hold only what the caller may see. */
export interface Searchable {
  name: string;
  description: string | null;
  columns: string[];
  source: string | null;
}

export interface Match {
  matched: ('name' | 'description' | 'column' | 'source')[];
  columns: string[];
  score: number;
}

/** The words of a query. They match inside longer words too, since Japanese is written without blanks. */
export function splitQuery(query: string): string[] {
  return query
    .normalize('NFKC')
    .split(/\s+/u)
    .filter((term) => term !== '')
    .slice(0, 20);
}

export const fold = (text: string) => text.normalize('NFKC').toLowerCase();

/** How well an artifact fits; null unless every term occurs in it. Terms must be folded. */
export function rankArtifact(terms: string[], artifact: Searchable): Match | null {
  const name = fold(artifact.name);
  const description = fold(artifact.description ?? '');
  const source = fold(artifact.source ?? '');
  const found = { name: false, description: false, source: false };
  const columns = new Set<string>();
  let score = 0;
  for (const term of terms) {
    const hits = artifact.columns.filter((column) => fold(column).includes(term));
    for (const column of hits) columns.add(column);
    const parts = [
      name === term ? 8 : name.startsWith(term) ? 5 : name.includes(term) ? 4 : 0,
      hits.some((column) => fold(column) === term) ? 3 : hits.length > 0 ? 2 : 0,
      source.includes(term) ? 2 : 0,
      description.includes(term) ? 1 : 0,
    ];
    found.name ||= (parts[0] as number) > 0;
    found.source ||= (parts[2] as number) > 0;
    found.description ||= (parts[3] as number) > 0;
    const total = parts.reduce((sum, part) => sum + part, 0);
    if (total === 0) return null;
    score += total;
  }
  const matched = [
    ...(found.name ? (['name'] as const) : []),
    ...(found.description ? (['description'] as const) : []),
    ...(columns.size > 0 ? (['column'] as const) : []),
    ...(found.source ? (['source'] as const) : []),
  ];
  return { matched, columns: artifact.columns.filter((column) => columns.has(column)), score };
}
