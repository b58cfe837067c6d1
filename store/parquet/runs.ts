// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte costs more than the work itself

/** The hybrid of runs and packed bits in which Parquet keeps levels and places in a dictionary, read at a few places only. */

interface Run {
  count: number;
  /** Null: packed bits. */
  value: number | null;
  /** Where the packed bits begin. */
  at: number;
}

function* runsIn(bytes: Buffer, width: number): Generator<Run> {
  const valueBytes = Math.ceil(width / 8);
  for (let at = 0; at < bytes.length; ) {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at]!;
      at += 1;
      header |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (header & 1) {
      const groups = header >>> 1;
      yield { count: groups * 8, value: null, at };
      at += groups * width;
    } else {
      yield { count: header >>> 1, value: valueBytes === 0 ? 0 : bytes.readUIntLE(at, valueBytes), at };
      at += valueBytes;
    }
  }
}

/** The numbers at some places that follow each other. */
export function valuesAt(bytes: Buffer, width: number, place: number, length: number): number[] {
  const values: number[] = [];
  let before = 0;
  for (const { count, value, at } of runsIn(bytes, width)) {
    const end = Math.min(count, place + length - before);
    for (let i = place + values.length - before; i < end; i += 1) values.push(value ?? unpack(bytes, at, width, i));
    before += count;
    if (values.length === length) return values;
  }
  throw new RangeError(`places ${place} to ${place + length} of ${before}`);
}

function unpack(bytes: Buffer, start: number, width: number, place: number): number {
  let value = 0;
  for (let bit = 0; bit < width; bit += 1) {
    const at = place * width + bit;
    value += ((bytes[start + (at >> 3)]! >> (at & 7)) & 1) * 2 ** bit;
  }
  return value;
}

/** How many ones stand before a place in a row of bits; the place may be its end. */
export function rankAt(bytes: Buffer, place: number): number {
  let ones = 0;
  let left = place;
  for (const { count, value, at } of runsIn(bytes, 1)) {
    const inside = Math.min(left, count);
    if (value !== null) ones += value * inside;
    else {
      for (let byte = 0; byte < inside >> 3; byte += 1) ones += countOnes(bytes[at + byte]!);
      ones += countOnes(bytes[at + (inside >> 3)]! & ((1 << (inside & 7)) - 1));
    }
    left -= inside;
    if (left === 0) return ones;
  }
  if (left === 0) return ones;
  throw new RangeError(`place ${place} is beyond the page`);
}

function countOnes(byte: number): number {
  let ones = 0;
  for (let rest = byte; rest > 0; rest &= rest - 1) ones += 1;
  return ones;
}
