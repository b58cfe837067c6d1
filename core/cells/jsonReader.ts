import { LongNumber } from './givenRow.ts';
import { findValueEnd, sign } from './jsonText.ts';

/** Every decimal number of up to this many digits survives conversion to a double and back. */
export const sureDigits = 15;

/** Thrown to give up. The caller then uses `JSON.parse`, which reports what is wrong with the text. */
export const unread = new Error('not JSON, or not in the form that is read here');

/** Slightly less than the depth that a request body may have; deeper values are left to the caller's own check. */
const deepest = 90;

/** Finds numbers that may have more digits than a double keeps. May also match inside a string, which only costs time. */
const longNumber = /(?:^|[\s:,[])-?\d(?:[\d.]{15}|[\d.]*[eE])/;

export function mayRound(text: string): boolean {
  return longNumber.test(text);
}

/** Like JSON.parse, but numbers that it would silently round become LongNumber. Throws for the same texts. */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayRound(text) ? new JsonReader(text).readWhole() : value;
}

/** Reads JSON text from left to right; `at` is the position of the next character. */
export class JsonReader {
  at = 0;

  constructor(protected readonly text: string) {}

  /** A value with everything nested in it. Only for text that JSON.parse accepts: recursion is not limited here. */
  readWhole(): unknown {
    this.skipBlank();
    switch (this.text.charCodeAt(this.at)) {
      case sign.brace:
        return Object.fromEntries(
          this.readItems(sign.braceEnd, (): [string, unknown] => {
            const name = this.readString();
            this.skipBlank();
            this.take(sign.colon);
            return [name, this.readWhole()];
          }),
        );
      case sign.bracket:
        return this.readItems(sign.bracketEnd, () => this.readWhole());
      default:
        return this.readValue();
    }
  }

  private readItems<T>(end: number, read: () => T): T[] {
    const items: T[] = [];
    this.at += 1;
    this.skipBlank();
    while (this.text.charCodeAt(this.at) !== end) {
      items.push(read());
      this.skipBlank();
      if (this.text.charCodeAt(this.at) === sign.comma) this.at += 1;
      this.skipBlank();
    }
    this.at += 1;
    return items;
  }

  protected readValue(): unknown {
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
        return parseExactly(this.text.slice(start, this.at));
      }
      default:
        return this.readNumber();
    }
  }

  protected readString(): string {
    this.take(sign.quote);
    const start = this.at;
    const escaped = this.skipString();
    if (!escaped) return this.text.slice(start, this.at - 1);
    return this.unescape(this.text.slice(start - 1, this.at));
  }

  protected unescape(quoted: string): string {
    return JSON.parse(quoted) as string;
  }

  /** Moves from after the opening quote to after the closing one; returns whether there were escapes. */
  protected skipString(): boolean {
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

  protected readNumber(): number | LongNumber {
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
    // JSON allows neither a number without digits nor leading zeros.
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

  protected skipDigits(from: number): void {
    const first = this.at + from;
    this.at = first;
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (!(code >= sign.zero && code <= sign.nine)) break;
      this.at += 1;
    }
    if (this.at === first) throw unread;
  }

  /** Skips a value; it is read by JSON.parse later. */
  protected skipValue(): void {
    const end = findValueEnd(this.text, this.at, deepest);
    if (end === null) throw unread;
    this.at = end;
  }

  protected skipBlank(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at += 1;
    }
  }

  protected take(code: number): void {
    if (this.text.charCodeAt(this.at) !== code) throw unread;
    this.at += 1;
  }

  protected takeWord<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw unread;
    this.at += word.length;
    return value;
  }
}

/** Expects the text of a well-formed JSON number. */
function toNumber(text: string): number | LongNumber {
  const value = Number(text);
  const isReached = Number.isFinite(value) && Math.abs(value) > 1e-290;
  if ((isReached && text.length <= sureDigits) || String(value) === plainExponent(text)) return value;
  const mantissa = text.split(/e/i)[0] as string;
  const digits = mantissa
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  return digits === '' || (isReached && digits.length <= sureDigits) ? value : new LongNumber(text);
}

/** Exponents as JavaScript prints them: `E-7` and `e-07` become `e-7`, `E21` becomes `e+21`. */
function plainExponent(text: string): string {
  return text.replace(/[eE]([+-]?)0*(\d+)$/, (_, sign: string, digits: string) => `e${sign || '+'}${digits}`);
}
