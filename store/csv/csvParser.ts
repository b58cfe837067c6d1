// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte costs more than the work itself

/** Rows of delimited text, as UTF-8 in chunks. Quotes as in RFC 4180; what is not quoted is taken as it stands. */

import { DomainError } from '../../core/errors.ts';
import { ByteWindow } from '../xlsx/byteWindow.ts';
import { HASH_START, HASH_STEP } from '../xlsx/stringPool.ts';

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/** The fields of one row: places in `bytes`, valid until the next row. */
export interface CsvRow {
  bytes: Buffer;
  fields: number;
  starts: Int32Array;
  ends: Int32Array;
  hashes: Int32Array;
  /** Fields that had to be put together, such as those with doubled quotes. */
  decoded: Map<number, string>;
}

export class CsvParser {
  /** Lines of the file begun so far, for messages. */
  private line = 1;
  private linesInField = 0;
  private readonly window = new ByteWindow(Number.POSITIVE_INFINITY);
  private readonly code: number;
  private readonly row: CsvRow = {
    bytes: this.window.bytes,
    fields: 0,
    starts: new Int32Array(64),
    ends: new Int32Array(64),
    hashes: new Int32Array(64),
    decoded: new Map(),
  };

  constructor(
    delimiter: string,
    private readonly onRow: (row: CsvRow) => void,
    private readonly longestRow: number,
  ) {
    this.code = delimiter.charCodeAt(0);
  }

  push(chunk: Buffer, last: boolean): void {
    const { window } = this;
    if (window.end - window.start > this.longestRow) {
      throw new DomainError(
        'too-large',
        `The row that begins in line ${this.line} is longer than ${this.longestRow} bytes.`,
        'Check for a quote in that line that is never closed.',
      );
    }
    window.append(chunk);
    while (window.start < window.end) {
      const next = this.readRow(window.bytes, window.start, window.end, last);
      if (next < 0) break;
      window.start = next;
    }
  }

  /** Past the row and its line end; -1 when the row may go on in the next chunk. */
  private readRow(b: Buffer, start: number, end: number, last: boolean): number {
    const { row } = this;
    row.fields = 0;
    if (row.decoded.size > 0) row.decoded.clear();
    let at = start;
    let lines = 1;
    for (;;) {
      if (at < end && b[at] === QUOTE) {
        const close = this.findClose(b, at + 1, end, last);
        if (close === -1) return -1;
        if (close === -2) throw this.refuseOpenQuote(lines);
        at = this.addQuoted(b, at + 1, close, end);
        lines += this.linesInField;
      } else at = this.addPlain(b, at, end);
      if (at >= end && !last) return -1;
      const ch = at < end ? b[at] : LF;
      if (ch === this.code) {
        at += 1;
        continue;
      }
      // CR at the very end may be half of CR LF.
      if (ch === CR && at + 1 >= end && !last) return -1;
      this.line += lines;
      row.bytes = b;
      this.onRow(row);
      return ch === CR && at + 1 < end && b[at + 1] === LF ? at + 2 : Math.min(at + 1, end);
    }
  }

  /** Up to the next delimiter or line end. */
  private addPlain(b: Buffer, start: number, end: number): number {
    const { code } = this;
    let hash = HASH_START;
    let at = start;
    for (; at < end; at += 1) {
      const ch = b[at]!;
      if (ch === code || ch === LF || ch === CR) break;
      hash = Math.imul(hash ^ ch, HASH_STEP);
    }
    this.addField(start, at, hash);
    return at;
  }

  /** The quote that is not doubled; -1 when it may come with the next chunk, -2 when it never comes. */
  private findClose(b: Buffer, start: number, end: number, last: boolean): number {
    for (let at = start; at < end; at += 1) {
      if (b[at] !== QUOTE) continue;
      if (at + 1 >= end && !last) return -1;
      if (at + 1 >= end || b[at + 1] !== QUOTE) return at;
      at += 1;
    }
    return last ? -2 : -1;
  }

  private addQuoted(b: Buffer, start: number, close: number, end: number): number {
    let hash = HASH_START;
    let doubled = false;
    this.linesInField = 0;
    for (let i = start; i < close; i += 1) {
      const ch = b[i]!;
      if (ch === QUOTE) doubled = true;
      else if (ch === LF) this.linesInField += 1;
      hash = Math.imul(hash ^ ch, HASH_STEP);
    }
    let at = close + 1;
    while (at < end && b[at] !== this.code && b[at] !== LF && b[at] !== CR) at += 1;
    // Text behind the closing quote belongs to the field.
    if (doubled || at > close + 1) {
      const text = b.toString('utf8', start, close).replaceAll('""', '"') + b.toString('utf8', close + 1, at);
      this.row.decoded.set(this.row.fields, text);
    }
    this.addField(start, close, hash);
    return at;
  }

  private addField(start: number, end: number, hash: number): void {
    const { row } = this;
    if (row.fields === row.starts.length) {
      const grow = (from: Int32Array): Int32Array => {
        const grown = new Int32Array(from.length * 2);
        grown.set(from);
        return grown;
      };
      row.starts = grow(row.starts);
      row.ends = grow(row.ends);
      row.hashes = grow(row.hashes);
    }
    row.starts[row.fields] = start;
    row.ends[row.fields] = end;
    row.hashes[row.fields] = hash;
    row.fields += 1;
  }

  private refuseOpenQuote(lines: number): DomainError {
    return new DomainError(
      'validation-failed',
      `A quote that opens in line ${this.line + lines - 1} is never closed.`,
      'Close the quote, or double it where it is part of the text.',
    );
  }
}
