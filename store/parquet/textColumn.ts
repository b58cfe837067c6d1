// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

import { type EncodedValues, encodeVarint, LENGTH_BYTES, OptionalColumn } from './columnEncoders.ts';

/** Texts that are remembered: with more of them in a group, few come again, as a rule. */
const MOST_KNOWN = 4096;
/** Longer texts are no bounds. */
const LONGEST_BOUND = 256;

/**
 * Texts, each followed by the next. Texts that come again are written once, and each row says which it has. Who puts a text knows that
 * it is the same by its id: comparing texts would cost more than writing them twice.
 */
export class TextColumn extends OptionalColumn {
  /** Texts in `bytes`. */
  private entries = 0;
  /** The entry of each value, once one has come again; before that, it is the value's own position. */
  private indexes: Int32Array | null = null;
  /** What the ids of `known` are of. */
  private scope: unknown = null;
  /** Entries by id; null: hardly any comes again. */
  private known: Map<number, number> | null = new Map();
  private again = 0;
  /** Bytes of texts that were not written again. */
  private saved = 0;

  constructor(private readonly hasBounds = false) {
    super();
  }

  /** As if each text were written as often as it comes. */
  override get size(): number {
    return super.size + this.saved;
  }

  /** Rows must come in ascending order. */
  putString(row: number, text: string): void {
    this.markEntry(row);
    const { length } = text;
    this.reserve(LENGTH_BYTES + length * 3);
    const { bytes } = this;
    const start = this.used + LENGTH_BYTES;
    let end = start;
    let i = 0;
    // For short ASCII texts this loop is faster than a call into native code.
    if (length < 48) {
      for (; i < length; i += 1) {
        const code = text.charCodeAt(i);
        if (code >= 0x80) break;
        bytes[end++] = code;
      }
    }
    if (i < length) end = start + bytes.write(text, start, 'utf8');
    this.putLength(end - start);
    this.used = end;
  }

  /** A whole number from 0 to 2^32 - 1, in digits. */
  putWhole(row: number, value: number): void {
    this.markEntry(row);
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
    this.reserve(LENGTH_BYTES + digits);
    this.putLength(digits);
    this.used += LENGTH_BYTES + digits;
    let rest = value;
    for (let at = this.used - 1; at >= this.used - digits; at -= 1) {
      const next = Math.floor(rest / 10);
      this.bytes[at] = 48 + rest - next * 10;
      rest = next;
    }
  }

  /** A text that is already encoded: its length, then its bytes. */
  putEncoded(row: number, from: Buffer, start: number, end: number): void {
    this.markEntry(row);
    const length = end - start;
    this.reserve(length);
    const { bytes } = this;
    let at = this.used;
    if (length < 48) for (let i = start; i < end; i += 1) bytes[at++] = from[i]!;
    else from.copy(bytes, at, start, end);
    this.used += length;
  }

  /**
   * Puts the text that was put before by this id of `scope`, and has so many bytes at least. If there was none, the caller must put the text,
   * which is then known by its id.
   */
  putAgain(row: number, scope: unknown, id: number, length: number): boolean {
    if (this.scope !== scope) this.forget(scope);
    const { known } = this;
    if (known === null) return false;
    const entry = known.get(id);
    if (entry === undefined) {
      if (known.size < MOST_KNOWN) known.set(id, this.entries);
      else if (this.again < MOST_KNOWN) this.known = null;
      return false;
    }
    this.indexes ??= countUp(this.count);
    this.again += 1;
    this.saved += length;
    this.markRow(row);
    this.keepIndex(entry);
    return true;
  }

  override finish(rows: number): EncodedValues {
    if (this.indexes === null) return super.finish(rows);
    const width = this.indexWidth();
    return {
      page: [this.encodeLevels(rows), Buffer.of(width), packIndexes(this.indexes, this.count, width)],
      dictionary: { entries: this.entries, bytes: this.bytes.subarray(0, this.used) },
    };
  }

  bounds(): { min: Buffer; max: Buffer } | null {
    if (!this.hasBounds || this.entries === 0) return null;
    const bytes = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.used);
    let min = 0;
    let max = 0;
    for (let at = 0; at < this.used; at += LENGTH_BYTES + bytes.getUint32(at, true)) {
      if (isLess(bytes, at, min)) min = at;
      else if (isLess(bytes, max, at)) max = at;
    }
    const [least, most] = [this.textAt(min), this.textAt(max)];
    return least.length > LONGEST_BOUND || most.length > LONGEST_BOUND ? null : { min: least, max: most };
  }

  private markEntry(row: number): void {
    this.markRow(row);
    if (this.indexes !== null) this.keepIndex(this.entries);
    this.entries += 1;
  }

  private keepIndex(entry: number): void {
    let indexes = this.indexes!;
    if (this.count > indexes.length) {
      const grown = new Int32Array(indexes.length * 2);
      grown.set(indexes);
      this.indexes = grown;
      indexes = grown;
    }
    indexes[this.count - 1] = entry;
  }

  private forget(scope: unknown): void {
    this.scope = scope;
    this.known = new Map();
    this.again = 0;
  }

  private indexWidth(): number {
    return Math.max(1, 32 - Math.clz32(this.entries - 1));
  }

  private textAt(at: number): Buffer {
    const start = at + LENGTH_BYTES;
    return Buffer.from(this.bytes.subarray(start, start + this.bytes.readUInt32LE(at)));
  }

  private putLength(length: number): void {
    const { bytes, used } = this;
    bytes[used] = length;
    bytes[used + 1] = length >>> 8;
    bytes[used + 2] = length >>> 16;
    bytes[used + 3] = length >>> 24;
  }
}

/** The numbers from 0 to `count`, and room for more. */
function countUp(count: number): Int32Array {
  const numbers = new Int32Array(Math.max(1024, count * 2));
  for (let i = 0; i < count; i += 1) numbers[i] = i;
  return numbers;
}

/** Whether one text sorts before another, by their bytes. */
function isLess(bytes: DataView, at: number, other: number): boolean {
  const length = bytes.getUint32(at, true);
  const otherLength = bytes.getUint32(other, true);
  const most = Math.min(length, otherLength) + LENGTH_BYTES;
  let i = LENGTH_BYTES;
  while (i + 4 <= most && bytes.getUint32(at + i) === bytes.getUint32(other + i)) i += 4;
  for (; i < most; i += 1) {
    const difference = bytes.getUint8(at + i) - bytes.getUint8(other + i);
    if (difference !== 0) return difference < 0;
  }
  return length < otherLength;
}

/** In one bit-packed run of Parquet's hybrid, lowest bits first. No group has more than 2^24 values, so that 32 bits can hold what is left over. */
function packIndexes(indexes: Int32Array, count: number, width: number): Buffer {
  const groups = Math.ceil(count / 8);
  const header = encodeVarint(groups * 2 + 1);
  const packed = Buffer.alloc(header.length + groups * width);
  packed.set(header);
  let [at, bits, held] = [header.length, 0, 0];
  for (let i = 0; i < count; i += 1) {
    bits |= indexes[i]! << held;
    held += width;
    for (; held >= 8; held -= 8) {
      packed[at++] = bits;
      bits >>>= 8;
    }
  }
  if (held > 0) packed[at] = bits;
  return packed;
}
