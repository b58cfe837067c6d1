// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte costs more than the work itself

import type { DomainError } from '../../core/errors.ts';
import type { ByteSource } from '../xlsx/byteSource.ts';
import { refuseLarge, refuseRecords } from './recordFile.ts';

const CHUNK = 256 * 1024;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const LF = 0x0a;

const isBlank = (byte: number) => byte === 0x20 || byte === LF || byte === 0x0d || byte === 0x09;

/** The bytes of each record: of each element of the one array, or of each line. Whether they are JSON is found out elsewhere. */
export async function* cutJson(
  source: ByteSource,
  format: 'json' | 'ndjson',
  longest: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const cutter = format === 'json' ? new ArrayCutter(longest) : new LineCutter(longest);
  for (let offset = 0; offset < source.size; offset += CHUNK) {
    signal?.throwIfAborted();
    let chunk = await source.read(offset, CHUNK);
    if (offset === 0 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) chunk = chunk.subarray(3);
    yield* cutter.push(chunk);
  }
  yield* cutter.end();
}

abstract class Cutter {
  private kept: Buffer[] = [];
  private size = 0;
  protected n = 0;

  constructor(private readonly longest: number) {}

  abstract push(chunk: Buffer): Iterable<Buffer>;
  abstract end(): Iterable<Buffer>;

  protected get isInside(): boolean {
    return this.size > 0;
  }

  protected keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.size += bytes.length;
    if (this.size > this.longest) throw refuseLarge(`Record ${this.n + 1} is longer than ${this.longest} bytes.`);
    this.kept.push(bytes);
  }

  protected takeRecord(last: Buffer): Buffer {
    this.keep(last);
    const record = this.kept.length === 1 ? this.kept[0]! : Buffer.concat(this.kept);
    [this.kept, this.size] = [[], 0];
    this.n += 1;
    return record;
  }
}

class LineCutter extends Cutter {
  *push(chunk: Buffer): Iterable<Buffer> {
    let start = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, start)) {
      yield* this.cut(chunk.subarray(start, at));
      start = at + 1;
    }
    this.keep(chunk.subarray(start));
  }

  *end(): Iterable<Buffer> {
    yield* this.cut(Buffer.alloc(0));
  }

  private *cut(rest: Buffer): Iterable<Buffer> {
    if (!this.isInside && rest.every(isBlank)) return;
    const line = this.takeRecord(rest);
    const first = line.find((byte) => !isBlank(byte));
    if (first === undefined) {
      this.n -= 1;
      return;
    }
    if (first === BRACKET && this.n === 1)
      throw refuseRecords('The file begins with an array, not with a record.', 'Send a JSON array with the extension .json.');
    if (first !== BRACE) throw refuseShape(this.n, first);
    yield line;
  }
}

type Place = 'before' | 'first' | 'element' | 'between' | 'next' | 'after';

class ArrayCutter extends Cutter {
  private place: Place = 'before';
  private depth = 0;
  private inString = false;
  private escaped = false;

  *push(chunk: Buffer): Iterable<Buffer> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (this.place === 'element') {
        if (!this.endsElement(byte)) continue;
        yield this.takeRecord(chunk.subarray(start, at + 1));
        this.place = 'between';
      } else if (!isBlank(byte) && this.enters(byte)) {
        start = at;
        this.depth = 1;
        this.place = 'element';
      }
    }
    if (this.place === 'element') this.keep(chunk.subarray(start));
  }

  end(): Iterable<Buffer> {
    if (this.place === 'before') throw refuseRecords('The file is empty.', 'Send a file with content.');
    if (this.place !== 'after')
      throw refuseRecords(`The file ends within its array, behind record ${this.n}.`, 'It may be cut off; export it again.');
    return [];
  }

  /** Counts braces outside of strings; true at the end of the element. */
  private endsElement(byte: number): boolean {
    if (this.inString) {
      if (this.escaped) this.escaped = false;
      else if (byte === BACKSLASH) this.escaped = true;
      else if (byte === QUOTE) this.inString = false;
      return false;
    }
    if (byte === QUOTE) this.inString = true;
    else if (byte === BRACE || byte === BRACKET) this.depth += 1;
    else if (byte === BRACE_END || byte === BRACKET_END) this.depth -= 1;
    return this.depth === 0;
  }

  /** Takes a byte outside of elements; true where an element begins. */
  private enters(byte: number): boolean {
    switch (this.place) {
      case 'before':
        if (byte === BRACE)
          throw refuseRecords(
            'The file is a JSON object, not an array of objects.',
            'Send the array of records alone, or one record a line with the extension .ndjson.',
          );
        if (byte !== BRACKET)
          throw refuseRecords('The file is not a JSON array of objects.', 'Send an array of objects: [{"name": 1}, …].');
        this.place = 'first';
        return false;
      case 'first':
      case 'next':
        if (byte === BRACKET_END && this.place === 'first') {
          this.place = 'after';
          return false;
        }
        if (byte !== BRACE) throw refuseShape(this.n + 1, byte);
        return true;
      case 'between':
        if (byte !== COMMA && byte !== BRACKET_END)
          throw refuseRecords(`Record ${this.n} is followed by neither a comma nor the end of the array.`, 'Send valid JSON.');
        this.place = byte === COMMA ? 'next' : 'after';
        return false;
      default:
        throw refuseRecords('The file goes on behind the end of its array.', 'Send one array of objects.');
    }
  }
}

function refuseShape(n: number, byte: number): DomainError {
  const kind =
    byte === BRACKET ? 'an array' : byte === QUOTE ? 'a text' : byte === 0x6e ? 'null' : byte === COMMA ? 'missing' : 'no object';
  return refuseRecords(`Record ${n} is ${kind}; each must be an object such as {"name": 1}.`, 'Send an array of objects, all of one kind.');
}
