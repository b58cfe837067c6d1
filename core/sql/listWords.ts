/** Comments, names and texts between quotes, and words: letters and whatever else is not a sign of ASCII's. */
const pieces = /--[^\n]*|\/\*[\s\S]*?\*\/|"((?:[^"]|"")*)"|'((?:[^']|'')*)'|(?:[\w$]|(?!\s)\P{ASCII})+/gu;

/**
 * What could be names of tables in a SQL text, each once; null where there are too many of them. It is not parsed: many are
 * no names, and one that is written in a strange way may not be among them.
 */
export function listWords(sql: string, most: number): string[] | null {
  const words = new Set<string>();
  for (const [piece, name, text] of sql.matchAll(pieces)) {
    if (name !== undefined) words.add(name.replaceAll('""', '"'));
    else if (text !== undefined) words.add(text.replaceAll("''", "'"));
    else if (!piece.startsWith('--') && !piece.startsWith('/*')) words.add(piece);
    if (words.size > most) return null;
  }
  return [...words];
}
