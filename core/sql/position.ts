/** A place in SQL text, for people: both from 1, columns in characters. */
interface Position {
  line: number;
  column: number;
}

/** DuckDB replaces these by one-byte blanks outside of quotes before it counts offsets. */
const wideBlanks = /[\u00a0\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]/u;

/** Quoted text and comments, in which blanks are not replaced. */
const quoted = /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;

/** Line and column of a byte offset; null when DuckDB gave none. */
export function locate(sql: string, byteOffset: number | null | undefined): Position | null {
  if (byteOffset === null || byteOffset === undefined || !Number.isSafeInteger(byteOffset) || byteOffset < 0) return null;
  const before = takeBytes(sql, byteOffset);
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

/** The text up to a byte offset as DuckDB counts. */
function takeBytes(sql: string, byteOffset: number): string {
  const hasWideBlanks = wideBlanks.test(sql);
  let bytes = 0;
  let quotedUntil = 0;
  let at = 0;
  while (at < sql.length && bytes < byteOffset) {
    if (hasWideBlanks && at >= quotedUntil) {
      quoted.lastIndex = at;
      if (quoted.test(sql)) quotedUntil = quoted.lastIndex;
    }
    const character = String.fromCodePoint(sql.codePointAt(at) as number);
    bytes += at >= quotedUntil && wideBlanks.test(character) ? 1 : utf8Length(character);
    at += character.length;
  }
  return sql.slice(0, at);
}

function utf8Length(character: string): number {
  const code = character.codePointAt(0) as number;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}
