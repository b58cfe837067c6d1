/** Rows of delimited text, in pieces. Quotes as in RFC 4180; what is not quoted is taken as it stands. */

import { DomainError } from '../../core/errors.ts';

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

export type RowSink = (fields: string[]) => void;

export class CsvParser {
  /** Lines of the file begun so far, for messages. */
  private line = 1;
  private rest = '';
  private readonly code: number;

  constructor(
    delimiter: string,
    private readonly onRow: RowSink,
    private readonly longestRow: number,
  ) {
    this.code = delimiter.charCodeAt(0);
  }

  push(text: string, last: boolean): void {
    const all = this.rest === '' ? text : this.rest + text;
    let at = 0;
    while (at < all.length) {
      const next = this.readRow(all, at, last);
      if (next < 0) break;
      at = next;
    }
    this.rest = at === 0 ? all : all.slice(at);
    if (this.rest.length > this.longestRow)
      throw new DomainError(
        'too-large',
        `The row that begins in line ${this.line} is longer than ${this.longestRow} characters.`,
        'Check for a quote in that line that is never closed.',
      );
  }

  /** Past the row and its line end; -1 when the row may go on in the next piece. */
  private readRow(text: string, start: number, last: boolean): number {
    const fields: string[] = [];
    let at = start;
    let lines = 0;
    for (;;) {
      let field: string;
      if (text.charCodeAt(at) === QUOTE) {
        const close = findClose(text, at + 1);
        if (close < 0) {
          if (!last) return -1;
          throw new DomainError(
            'validation-failed',
            `A quote that opens in line ${this.line + lines} is never closed.`,
            'Close the quote, or double it where it is part of the text.',
          );
        }
        if (close + 1 >= text.length && !last) return -1;
        field = text.slice(at + 1, close).replaceAll('""', '"');
        for (let i = text.indexOf('\n', at); i >= 0 && i < close; i = text.indexOf('\n', i + 1)) lines += 1;
        // Text behind the closing quote belongs to the field.
        const end = this.findEnd(text, close + 1);
        if (end > close + 1) field += text.slice(close + 1, end);
        at = end;
      } else {
        const end = this.findEnd(text, at);
        field = text.slice(at, end);
        at = end;
      }
      if (at >= text.length && !last) return -1;
      fields.push(field);
      const ch = text.charCodeAt(at);
      if (ch === this.code) {
        at += 1;
        continue;
      }
      // CR at the very end may be half of CR LF.
      if (ch === CR && at + 1 >= text.length && !last) return -1;
      this.line += lines + 1;
      this.onRow(fields);
      if (ch === CR && text.charCodeAt(at + 1) === LF) return at + 2;
      return at + 1;
    }
  }

  /** The next delimiter, line end or end of text. */
  private findEnd(text: string, start: number): number {
    let at = start;
    for (; at < text.length; at += 1) {
      const ch = text.charCodeAt(at);
      if (ch === this.code || ch === LF || ch === CR) break;
    }
    return at;
  }
}

/** The quote that is not doubled. */
function findClose(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at >= 0 && text.charCodeAt(at + 1) === QUOTE) at = text.indexOf('"', at + 2);
  return at;
}
