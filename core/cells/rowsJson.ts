import { GivenRow, LongNumber } from './givenRow.ts';
import { findValueEnd, sign } from './jsonText.ts';

/** A double holds so many decimal digits, whatever they are. */
export const sureDigits = 15;

/** Thrown to give up; whoever reads then has the text read by `JSON.parse`, which says what is wrong with it. */
const unread = new Error('not read as rows');

/** Nearly as deep as any body may be: what is deeper is left to whoever counts from the outside. */
const deepest = 90;

/**
 * A JSON object whose `rows` are an array of objects, with those as GivenRow; null when the text is anything else.
 *
 * JSON.parse would do, but for two things: it rounds numbers without a word; and an object of 128 and more
 * properties becomes a hash table, which makes wide rows cost three times what they need.
 */
export function parseRowsJson(text: string): Record<string, unknown> | null {
  try {
    const reader = new RowsReader(text);
    const start = reader.findRows();
    const rows = reader.readRows();
    const rest = text.slice(reader.at);
    // Of a name that comes twice the last one counts: left to JSON.parse.
    if (/rows|\\/.test(rest)) return null;
    const head = JSON.parse(`${text.slice(0, start)}[]${rest}`) as Record<string, unknown>;
    head.rows = rows;
    return head;
  } catch {
    return null;
  }
}

class RowsReader {
  at = 0;
  /** Of the row before: most rows of a request name the same columns in the same order. */
  private names: string[] = [];
  /** Each name as it stands in the text, with quotes and colon. */
  private marks: string[] = [];
  /** Whether this row has departed from them, and its lists are its own. */
  private departed = false;

  constructor(private readonly text: string) {}

  /** Moves to the array and returns its place. */
  findRows(): number {
    this.skipBlank();
    this.take(sign.brace);
    for (;;) {
      this.skipBlank();
      const name = this.readString();
      this.skipBlank();
      this.take(sign.colon);
      this.skipBlank();
      if (name === 'rows') return this.at;
      this.skipValue();
      this.skipBlank();
      this.take(sign.comma);
    }
  }

  readRows(): GivenRow[] {
    const rows: GivenRow[] = [];
    this.take(sign.bracket);
    this.skipBlank();
    if (this.text.charCodeAt(this.at) === sign.bracketEnd) {
      this.at += 1;
      return rows;
    }
    for (;;) {
      this.skipBlank();
      rows.push(this.readRow());
      this.skipBlank();
      if (this.text.charCodeAt(this.at) === sign.comma) this.at += 1;
      else {
        this.take(sign.bracketEnd);
        return rows;
      }
    }
  }

  private readRow(): GivenRow {
    const { text } = this;
    const values: unknown[] = new Array(this.names.length);
    let place = 0;
    this.departed = false;
    this.take(sign.brace);
    this.skipBlank();
    if (text.charCodeAt(this.at) === sign.braceEnd) this.at += 1;
    else
      for (;;) {
        this.readName(place);
        values[place] = this.readValue();
        place += 1;
        this.skipBlank();
        if (text.charCodeAt(this.at) === sign.comma) {
          this.at += 1;
          this.skipBlank();
        } else {
          this.take(sign.braceEnd);
          break;
        }
      }
    if (place < this.names.length) this.depart(place);
    values.length = place;
    return new GivenRow(this.names, values);
  }

  private depart(place: number): void {
    if (this.departed) return;
    this.departed = true;
    this.names = this.names.slice(0, place);
    this.marks = this.marks.slice(0, place);
  }

  private readName(place: number): void {
    const known = this.marks[place];
    if (known !== undefined && this.stands(known)) {
      this.at += known.length;
      return;
    }
    this.depart(place);
    const start = this.at;
    this.names.push(this.readString());
    this.skipBlank();
    this.take(sign.colon);
    this.skipBlank();
    this.marks.push(this.text.slice(start, this.at));
  }

  private stands(mark: string): boolean {
    const { text, at } = this;
    for (let i = 0; i < mark.length; i += 1) if (text.charCodeAt(at + i) !== mark.charCodeAt(i)) return false;
    return true;
  }

  private readValue(): unknown {
    switch (this.text.charCodeAt(this.at)) {
      case sign.quote:
        return this.readString();
      case sign.n:
        return this.takeWord('null', null);
      case sign.t:
        return this.takeWord('true', true);
      case sign.f:
        return this.takeWord('false', false);
      case sign.brace:
      case sign.bracket: {
        const start = this.at;
        this.skipValue();
        return JSON.parse(this.text.slice(start, this.at));
      }
      default:
        return this.readNumber();
    }
  }

  private readString(): string {
    this.take(sign.quote);
    const start = this.at;
    const escaped = this.skipString();
    if (!escaped) return this.text.slice(start, this.at - 1);
    const value = JSON.parse(this.text.slice(start - 1, this.at)) as string;
    // Only an escape brings these in; where they stand is said by whoever reads next.
    if (value.includes('\u0000') || !value.isWellFormed()) throw unread;
    return value;
  }

  /** From behind its opening quote to behind the closing one; whether there were escapes. */
  private skipString(): boolean {
    const { text } = this;
    let escaped = false;
    for (let at = this.at; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === sign.quote) {
        this.at = at + 1;
        return escaped;
      }
      if (code < 0x20) throw unread;
      if (code === sign.backslash) {
        escaped = true;
        at += 1;
      }
    }
    throw unread;
  }

  private readNumber(): number | LongNumber {
    const { text } = this;
    const start = this.at;
    const negative = text.charCodeAt(start) === sign.minus;
    if (negative) this.at += 1;
    const first = this.at;
    let value = 0;
    let code = text.charCodeAt(this.at);
    while (code >= sign.zero && code <= sign.nine) {
      value = value * 10 + code - sign.zero;
      this.at += 1;
      code = text.charCodeAt(this.at);
    }
    const digits = this.at - first;
    // No digit, or a nought before others.
    if (digits === 0 || (digits > 1 && text.charCodeAt(first) === sign.zero)) throw unread;
    const isWhole = code !== sign.point && code !== sign.e && code !== sign.e - 0x20;
    if (isWhole && digits <= sureDigits) return negative ? -value : value;
    if (code === sign.point) this.skipDigits(1);
    code = text.charCodeAt(this.at);
    if (code === sign.e || code === sign.e - 0x20) {
      code = text.charCodeAt(this.at + 1);
      this.skipDigits(code === sign.plus || code === sign.minus ? 2 : 1);
    }
    return toNumber(text.slice(start, this.at));
  }

  private skipDigits(from: number): void {
    const first = this.at + from;
    this.at = first;
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (!(code >= sign.zero && code <= sign.nine)) break;
      this.at += 1;
    }
    if (this.at === first) throw unread;
  }

  /** Past a value that JSON.parse is going to read. */
  private skipValue(): void {
    const end = findValueEnd(this.text, this.at, deepest);
    if (end === null) throw unread;
    this.at = end;
  }

  private skipBlank(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at += 1;
    }
  }

  private take(code: number): void {
    if (this.text.charCodeAt(this.at) !== code) throw unread;
    this.at += 1;
  }

  private takeWord<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw unread;
    this.at += word.length;
    return value;
  }
}

/** Of well-formed JSON. */
function toNumber(text: string): number | LongNumber {
  const value = Number(text);
  const isReached = Number.isFinite(value) && Math.abs(value) > 1e-290;
  if (isReached && (text.length <= sureDigits || String(value) === text)) return value;
  const mantissa = text.split(/e/i)[0] as string;
  const digits = mantissa
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  return digits === '' || (isReached && digits.length <= sureDigits) ? value : new LongNumber(text);
}
