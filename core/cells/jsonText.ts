/** Finds positions in JSON text without parsing or checking it. */

export const sign = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  plus: 0x2b,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  bracket: 0x5b,
  backslash: 0x5c,
  bracketEnd: 0x5d,
  e: 0x65,
  f: 0x66,
  n: 0x6e,
  t: 0x74,
  brace: 0x7b,
  braceEnd: 0x7d,
} as const;

/** Levels that JSON in a cell may have, as many as a request and a result: most readers of JSON are recursive. */
export const deepestJson = 100;

/** Pattern of values that programs write and JSON does not have. */
export const foreignWords = '(?:[-+]?\\b(?:NaN|Infinity|nan|inf)|\\b(?:undefined|None|True|False))\\b';

/** The position after a value; null when it is nested more than `deepest` levels. Malformed text ends at the text's end. */
export function findValueEnd(text: string, start: number, deepest: number): number | null {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case sign.quote:
        at = findQuote(text, at + 1);
        break;
      case sign.brace:
      case sign.bracket:
        depth += 1;
        if (depth > deepest) return null;
        break;
      case sign.braceEnd:
      case sign.bracketEnd:
        if (depth === 0) return at;
        depth -= 1;
        break;
      case sign.comma:
        if (depth === 0) return at;
        break;
      default:
        continue;
    }
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/** How many objects and lists a JSON text has; does not count on beyond `most`. */
export function countParts(text: string, most: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= most; at += 1) {
    const code = text.charCodeAt(at);
    if (code === sign.quote) at = findQuote(text, at + 1);
    else if (code === sign.brace || code === sign.bracket) count += 1;
  }
  return count;
}

/** The position of the closing quote, starting inside the string. */
function findQuote(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== sign.quote) at += text.charCodeAt(at) === sign.backslash ? 2 : 1;
  return at;
}
