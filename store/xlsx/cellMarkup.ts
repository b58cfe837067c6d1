// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/**
 * Parses one `<c>` element byte by byte. Most of the time of a large sheet is spent here, so no object or string is made
 * unless needed, and nothing is done before the whole element is available.
 */

import {
  AMP,
  BANG,
  CR,
  findTagEnd,
  GT,
  isNameEnd,
  isSpace,
  joinRuns,
  LOWER_X,
  LT,
  QUESTION,
  SLASH,
  skipDeclaration,
  UNDERSCORE,
} from './scanText.ts';
import { HASH_START, HASH_STEP } from './stringPool.ts';

export const Type = { number: 0, shared: 1, text: 2, boolean: 3, error: 4, inline: 5, date: 6 } as const;

const EQUALS = 0x3d;
const SPACE = 0x20;
const QUOTE = 0x22;
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
const LARGEST_EXACT = 2 ** 53;

export class CellMarkup {
  /** Of the row that is open. */
  row = 0;
  column = 0;
  /** `x:` where the file uses a namespace prefix. */
  prefix = '';

  // The parsed content of the last element.
  protected type: number = Type.number;
  protected style = 0;
  protected number = 0;
  /** Where the value stands; -1 for none. */
  protected start = -1;
  protected end = 0;
  /** Hash of the bytes of the value. */
  protected hash = 0;
  /** False when the value has entities or escapes. */
  protected plain = true;
  /** The value when it had to be assembled from several pieces: CDATA, comments, runs. */
  protected decoded: string | null = null;
  /** Where the attributes of the formula stand, and where its text ends; -1 for none. */
  protected formulaTag = -1;
  protected formulaTagEnd = 0;
  protected formulaEnd = 0;

  /** `at` is after `<c`; returns the end of the element, or -1 when it is not complete yet. */
  protected readElement(b: Buffer, at: number, end: number): number {
    const [lastRow, lastColumn] = [this.row, this.column];
    this.type = Type.number;
    this.style = 0;
    this.start = -1;
    this.decoded = null;
    this.plain = true;
    this.formulaTag = -1;
    this.column = lastColumn + 1;
    let done = this.readAttributes(b, at, end);
    if (done > 0 && b[done - 2] !== SLASH) done = this.readContent(b, done, end);
    if (done < 0) {
      this.row = lastRow;
      this.column = lastColumn;
    }
    return done;
  }

  private readAttributes(b: Buffer, at: number, end: number): number {
    let i = this.readUsualAttributes(b, at, end);
    while (i < end) {
      const name = b[i]!;
      if (name === GT) return i + 1;
      if (isSpace(name) || name === SLASH) {
        i += 1;
        continue;
      }
      let value = i + 3;
      let quote = b[i + 2]!;
      let short = b[i + 1] === EQUALS;
      if (!short || (quote !== 0x22 && quote !== 0x27)) {
        // A longer attribute name, or blanks around the equals sign.
        let sign = i + 1;
        while (sign < end && b[sign] !== EQUALS && b[sign] !== GT) sign += 1;
        if (b[sign] === GT) {
          i = sign;
          continue;
        }
        short = isSpace(b[i + 1]!) || short;
        value = sign + 1;
        while (value < end && isSpace(b[value]!)) value += 1;
        quote = b[value]!;
        value += 1;
      }
      let close = value;
      while (close < end && b[close] !== quote) close += 1;
      if (close >= end) return -1;
      if (short) this.takeAttribute(b, name, value, close);
      i = close + 1;
    }
    return -1;
  }

  /** Fast path for ` r="B12" s="3" t="s"`, as nearly all programs write it; returns where something else begins. */
  private readUsualAttributes(b: Buffer, at: number, end: number): number {
    let i = at;
    if (b[i] === SPACE && b[i + 1] === 0x72 && b[i + 2] === EQUALS && b[i + 3] === QUOTE) {
      let j = i + 4;
      let ch = b[j]!;
      let column = 0;
      for (; ch >= 65 && ch <= 90; ch = b[j]!) {
        column = column * 26 + ch - 64;
        j += 1;
      }
      let row = 0;
      for (; ch >= 48 && ch <= 57; ch = b[j]!) {
        row = row * 10 + ch - 48;
        j += 1;
      }
      if (ch !== QUOTE || column === 0 || row === 0 || j >= end) return i;
      this.column = column;
      this.row = row;
      i = j + 1;
    }
    if (b[i] === SPACE && b[i + 1] === 0x73 && b[i + 2] === EQUALS && b[i + 3] === QUOTE) {
      let j = i + 4;
      let style = 0;
      for (let ch = b[j]!; ch >= 48 && ch <= 57; ch = b[j]!) {
        style = style * 10 + ch - 48;
        j += 1;
      }
      if (b[j] !== QUOTE || j >= end) return i;
      this.style = style;
      i = j + 1;
    }
    return i;
  }

  private takeAttribute(b: Buffer, name: number, start: number, end: number): void {
    if (name === 0x72) {
      let i = start;
      let column = 0;
      for (; i < end; i += 1) {
        const letter = b[i]! & 0xdf;
        if (letter < 65 || letter > 90) break;
        column = column * 26 + letter - 64;
      }
      let row = 0;
      for (; i < end; i += 1) row = row * 10 + b[i]! - 48;
      if (column > 0) this.column = column;
      if (row > 0) this.row = row;
    } else if (name === 0x73) {
      let style = 0;
      for (let i = start; i < end; i += 1) style = style * 10 + b[i]! - 48;
      this.style = style;
    } else if (name === 0x74) this.type = readType(b, start, end);
  }

  private readContent(b: Buffer, at: number, end: number): number {
    const prefix = this.prefix.length;
    let i = at;
    while (i < end) {
      if (b[i] !== LT) {
        i += 1;
        continue;
      }
      const next = b[i + 1]!;
      if (next === BANG || next === QUESTION) {
        i = skipDeclaration(b, i, end);
        if (i < 0) return -1;
        continue;
      }
      const name = i + 1 + prefix;
      let after: number;
      if (next === SLASH) {
        const close = findTagEnd(b, i, end);
        if (close < 0) return -1;
        if (b[name + 1] === 0x63 && isNameEnd(b[name + 2]!)) return close + 1;
        after = close + 1;
      } else if (b[name] === 0x76 && isNameEnd(b[name + 1]!)) after = this.readValue(b, name + 1, end);
      else if (b[name] === 0x66 && isNameEnd(b[name + 1]!)) after = this.readFormula(b, name + 1, end);
      else if (b[name] === 0x69 && b[name + 1] === 0x73 && isNameEnd(b[name + 2]!)) after = this.readInline(b, name + 2, end);
      else {
        const close = findTagEnd(b, i, end);
        if (close < 0) return -1;
        // Extensions may contain elements with the same names, which must be ignored.
        const isExtension = b[close - 1] !== SLASH && b.toString('latin1', name, name + 6) === 'extLst';
        after = isExtension ? skipElement(b, close + 1, end, `${this.prefix}extLst`) : close + 1;
      }
      if (after < 0) return -1;
      i = after;
      // Nearly always `</v></c>` follows.
      const close = i + 4 + prefix;
      if (
        b[close - 2] === 0x76 &&
        b[close - 1] === GT &&
        b[close] === LT &&
        b[close + 1] === SLASH &&
        b[close + 2 + prefix] === 0x63 &&
        b[close + 3 + prefix] === GT
      ) {
        return close + 4 + prefix <= end ? close + 4 + prefix : -1;
      }
    }
    return -1;
  }

  /** `at` is behind `<v`. */
  private readValue(b: Buffer, at: number, end: number): number {
    let i = at;
    while (i < end && b[i] !== GT) i += 1;
    if (i >= end) return -1;
    if (b[i - 1] === SLASH) return i + 1;
    i += 1;
    this.start = i;
    const stop = this.type === Type.number || this.type === Type.shared ? this.readNumber(b, i, end) : this.readPlain(b, i, end);
    if (stop < 0) return -1;
    this.end = stop;
    if (b[stop + 1] === BANG) return this.readMixed(b, i, end);
    return stop;
  }

  /** Digits up to the next tag; numbers of up to fifteen digits are exact this way. */
  private readNumber(b: Buffer, start: number, end: number): number {
    let i = start;
    const negative = b[i] === 0x2d;
    if (negative) i += 1;
    let mantissa = 0;
    let digits = 0;
    let decimals = 0;
    let point = false;
    for (; i < end; i += 1) {
      const ch = b[i]!;
      if (ch >= 48 && ch <= 57) {
        mantissa = mantissa * 10 + ch - 48;
        digits += 1;
        if (point) decimals += 1;
      } else if (ch === 0x2e && !point) point = true;
      else break;
    }
    if (i >= end) return -1;
    if (b[i] === LT && digits > 0 && digits <= 16 && mantissa < LARGEST_EXACT) {
      const value = decimals === 0 ? mantissa : mantissa / POWERS[decimals]!;
      this.number = negative ? -value : value;
      return i;
    }
    while (i < end && b[i] !== LT) i += 1;
    if (i >= end) return -1;
    const text = b.toString('latin1', start, i).trim();
    this.number = text === '' ? Number.NaN : Number(text);
    if (text === '') this.start = -1;
    return i;
  }

  /** Up to the next tag, with the hash of the bytes on the way. */
  private readPlain(b: Buffer, start: number, end: number): number {
    let hash = HASH_START;
    for (let i = start; i < end; i += 1) {
      const ch = b[i]!;
      if (ch === LT) {
        this.hash = hash;
        return i;
      }
      if (ch === AMP || ch === CR || (ch === UNDERSCORE && b[i + 1] === LOWER_X)) this.plain = false;
      hash = Math.imul(hash ^ ch, HASH_STEP);
    }
    return -1;
  }

  /** A value with CDATA or comments in it. */
  private readMixed(b: Buffer, start: number, end: number): number {
    const close = skipElement(b, start, end, `${this.prefix}v`);
    if (close < 0) return -1;
    this.start = start;
    this.decoded = joinRuns(`<t>${b.toString('utf8', start, close)}`);
    this.number = Number(this.decoded);
    return close;
  }

  /** `at` is behind `<is`. */
  private readInline(b: Buffer, at: number, end: number): number {
    this.type = Type.inline;
    const prefix = this.prefix.length;
    const open = findTagEnd(b, at, end);
    if (open < 0) return -1;
    if (b[open - 1] === SLASH) return open + 1;
    const t = open + 2 + prefix;
    if (b[open + 1] === LT && b[t] === 0x74 && isNameEnd(b[t + 1]!)) {
      const tagEnd = findTagEnd(b, t, end);
      if (tagEnd < 0) return -1;
      if (b[tagEnd - 1] !== SLASH) {
        const stop = this.readPlain(b, tagEnd + 1, end);
        if (stop < 0) return -1;
        // </t></is>
        const is = stop + 4 + prefix;
        if (b[stop + 1] === SLASH && b[is - 1] === GT && b[is] === LT && b[is + 1] === SLASH && b[is + 2 + prefix] === 0x69) {
          this.start = tagEnd + 1;
          this.end = stop;
          return is;
        }
      }
    }
    const close = skipElement(b, open + 1, end, `${this.prefix}is`);
    if (close < 0) return -1;
    this.start = open + 1;
    this.decoded = joinRuns(b.toString('utf8', open + 1, close));
    return close;
  }

  /** `at` is behind `<f`. */
  private readFormula(b: Buffer, at: number, end: number): number {
    const open = findTagEnd(b, at, end);
    if (open < 0) return -1;
    let close = open + 1;
    if (b[open - 1] !== SLASH) {
      close = skipElement(b, open + 1, end, `${this.prefix}f`);
      if (close < 0) return -1;
    }
    this.formulaTag = at;
    this.formulaTagEnd = open;
    this.formulaEnd = close;
    return close;
  }
}

function readType(b: Buffer, start: number, end: number): number {
  switch (b[start]) {
    case 0x73:
      return end - start === 1 ? Type.shared : Type.text;
    case 0x62:
      return Type.boolean;
    case 0x65:
      return Type.error;
    case 0x69:
      return Type.inline;
    case 0x64:
      return Type.date;
    default:
      return Type.number;
  }
}

/** Position of the end tag of the element called `name`, given its content; -1 when it is not there yet. */
function skipElement(b: Buffer, at: number, end: number, name: string): number {
  const lastLetter = name.charCodeAt(name.length - 1);
  let i = at;
  while (i < end) {
    if (b[i] !== LT) i += 1;
    else if (b[i + 1] === BANG || b[i + 1] === QUESTION) {
      i = skipDeclaration(b, i, end);
      if (i < 0) return -1;
    } else if (b[i + 1] === SLASH) {
      const stop = i + 2 + name.length;
      if (stop >= end) return -1;
      if (b[stop - 1] === lastLetter && isNameEnd(b[stop]!) && b.toString('latin1', i + 2, stop) === name) return i;
      i += 2;
    } else i += 1;
  }
  return -1;
}
