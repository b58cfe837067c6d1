/**
 * One `<c>` element, byte by byte. This is where the time of a large sheet goes: no objects, no strings that are not
 * needed, and nothing done before the whole element is there.
 */

import { CellKind } from '../../core/grid/grid.ts';
import type { BlankRuns } from './blankRuns.ts';
import { CellBuffer } from './cellBuffer.ts';
import { isoToMs, serialToMs } from './dates.ts';
import { FormulaBook } from './formulaBook.ts';
import type { ReadLimits } from './limits.ts';
import { refuseDamaged, refuseTooLarge } from './refusals.ts';
import {
  AMP,
  BANG,
  CR,
  decodeBytes,
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
import type { StringPool } from './stringPool.ts';
import { NumberMeaning, type StyleBook } from './styles.ts';
import { decodeText, parseAttributes } from './xml.ts';

const Type = { number: 0, shared: 1, text: 2, boolean: 3, error: 4, inline: 5, date: 6 } as const;

const EQUALS = 0x3d;
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
const LARGEST_EXACT = 2 ** 53;

export interface CellContext {
  styles: StyleBook;
  date1904: boolean;
  limits: ReadLimits;
  pool: StringPool;
  /** Null where nobody asks for blank cells. */
  blanks: BlankRuns | null;
  keepFormulas: boolean;
}

export class CellScanner {
  readonly cells = new CellBuffer();
  readonly formulas = new FormulaBook();
  /** Of the row that is open. */
  row = 0;
  column = 0;
  /** `x:` where the file uses a namespace prefix. */
  prefix = '';
  private count = 0;

  // What the element said, until it is complete.
  private type = 0;
  private style = 0;
  private number = 0;
  private start = -1;
  private end = 0;
  private hash = 0;
  /** The value needs decoding: entities, escapes, CDATA, runs. */
  private decoded: string | null = null;
  private plain = true;
  private formulaTag = -1;
  private formulaTagEnd = 0;
  private formulaEnd = 0;

  constructor(private readonly context: CellContext) {}

  /** `at` is behind `<c`; answers where the element ends, or -1 when its end is not there yet. */
  read(b: Buffer, at: number, end: number): number {
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
      return -1;
    }
    if (this.column > this.context.limits.columns) throw refuseTooLarge(`A sheet reaches beyond column ${this.context.limits.columns}.`);
    if (this.row > this.context.limits.rows) throw refuseTooLarge(`A sheet reaches beyond row ${this.context.limits.rows}.`);
    this.finish(b);
    return done;
  }

  private readAttributes(b: Buffer, at: number, end: number): number {
    let i = at;
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
        // A longer name, or blanks around the sign.
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
        // Extensions may hold elements with the names of ours.
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
    let hash = 0x811c9dc5 | 0;
    for (let i = start; i < end; i += 1) {
      const ch = b[i]!;
      if (ch === LT) {
        this.hash = hash;
        return i;
      }
      if (ch === AMP || ch === CR || (ch === UNDERSCORE && b[i + 1] === LOWER_X)) this.plain = false;
      hash = Math.imul(hash ^ ch, 0x01000193);
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

  private finish(b: Buffer): void {
    const { context, row, column } = this;
    const styleId = context.styles.indexOf[this.style] ?? 0;
    context.blanks?.passCell(row, column);
    const waitsFor = this.formulaTag >= 0 && context.keepFormulas ? this.takeFormula(b) : null;
    const formulaId = typeof waitsFor === 'number' ? waitsFor : -1;
    const hasFormula = waitsFor !== null;
    let kind: number = CellKind.text;
    let number = 0;
    let text = -1;
    if (this.start >= 0) {
      switch (this.type) {
        case Type.number:
          if (!Number.isFinite(this.number)) text = this.takeText(b);
          else {
            number = this.number;
            kind = CellKind.number;
            const meaning = context.styles.meanings[styleId]!;
            if (meaning !== NumberMeaning.number) {
              const ms = serialToMs(number, context.date1904, meaning === NumberMeaning.time);
              if (!Number.isNaN(ms)) {
                number = ms;
                kind = CellKind.date;
              }
            }
          }
          break;
        case Type.shared:
          text = context.pool.takeShared(this.number);
          if (text < 0) throw refuseDamaged(`a cell in row ${row} points to a text that is not there`);
          break;
        case Type.boolean:
          kind = CellKind.boolean;
          number = b[this.start] === 0x31 || b[this.start] === 0x74 ? 1 : 0;
          break;
        case Type.date:
          number = isoToMs(b.toString('latin1', this.start, this.end));
          if (Number.isNaN(number)) {
            number = 0;
            text = this.takeText(b);
          } else kind = CellKind.date;
          break;
        default:
          if (this.type === Type.error) kind = CellKind.error;
          text = this.takeText(b);
      }
    }
    if (kind === CellKind.text && (text < 0 || context.pool.strings[text] === '')) {
      if (!hasFormula) {
        if (context.blanks && context.styles.visible[styleId]) context.blanks.add(row, column, column, styleId);
        return;
      }
      text = context.pool.takeText('');
    }
    this.count += 1;
    if (this.count > context.limits.cellsPerSheet) throw refuseTooLarge(`A sheet has more than ${context.limits.cellsPerSheet} cells.`);
    const cell = this.cells.add(row, column, kind, number, text, styleId, formulaId);
    if (typeof waitsFor === 'string') this.formulas.waitFor(waitsFor, cell);
  }

  private takeText(b: Buffer): number {
    const { pool } = this.context;
    if (this.decoded !== null) return pool.takeText(this.decoded);
    if (this.type === Type.number) return pool.takeText(b.toString('utf8', this.start, this.end));
    if (!this.plain) return pool.takeText(decodeBytes(b, this.start, this.end));
    return this.start === this.end ? -1 : pool.takeBytes(b, this.start, this.end, this.hash);
  }

  /** Number of the formula; the key of a shared one that is not defined yet; null for none. */
  private takeFormula(b: Buffer): number | string | null {
    const { formulas, row, column } = this;
    const selfClosed = b[this.formulaTagEnd - 1] === SLASH;
    const text = selfClosed ? '' : readFormulaText(b.toString('utf8', this.formulaTagEnd + 1, this.formulaEnd));
    if (this.formulaTagEnd - this.formulaTag < 4) return text === '' ? null : formulas.addText(text);
    const attributes = parseAttributes(b.toString('utf8', this.formulaTag, this.formulaTagEnd));
    const reference = attributes.get('ref') ?? '';
    switch (attributes.get('t')) {
      case 'shared': {
        const key = attributes.get('si') ?? '';
        if (text !== '') {
          formulas.defineShared(key, row, column, text);
          return formulas.addText(text);
        }
        const id = formulas.addShared(key, row, column);
        return id < 0 ? key : id;
      }
      case 'array':
        if (text === '') return null;
        formulas.addArray(reference, text, 'array');
        return formulas.addText(text);
      case 'dataTable': {
        const formula = nameDataTable(attributes);
        formulas.addArray(reference, formula, 'dataTable');
        return formulas.addText(formula);
      }
      default:
        return text === '' ? null : formulas.addText(text);
    }
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

function readFormulaText(xml: string): string {
  return xml.includes('<') ? joinRuns(`<t>${xml}`) : decodeText(xml);
}

/** As Excel shows it: {=TABLE(row input, column input)}. */
function nameDataTable(attributes: Map<string, string>): string {
  const [first, second] = [attributes.get('r1') ?? '', attributes.get('r2') ?? ''];
  const isOn = (name: string): boolean => attributes.get(name) === '1' || attributes.get(name) === 'true';
  if (isOn('dt2D')) return `TABLE(${first},${second})`;
  return isOn('dtr') ? `TABLE(${first},)` : `TABLE(,${first})`;
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
