/** Comments, quoted names, quoted texts, and words (letters, digits, `_` and everything beyond ASCII). */
const pieces = /--[^\n]*|\/\*[\s\S]*?\*\/|"((?:[^"]|"")*)"|'((?:[^']|'')*)'|(?:[\w$]|(?!\s)\P{ASCII})+/gu;

/**
 * Words of a SQL text that could be table names, each once; null when there are too many. The text is not parsed: many words
 * are no names, and an unusually written name may be missing.
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
