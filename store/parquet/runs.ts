// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte costs more than the work itself

/** Reads single values out of Parquet's RLE/bit-packing hybrid, which encodes definition levels and dictionary indices. */

interface Run {
  count: number;
  /** Null: the run is bit-packed. */
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

function unpack(bytes: Buffer, start: number, width: number, place: number): number {
  let value = 0;
  for (let bit = 0; bit < width; bit += 1) {
    const at = place * width + bit;
    value += ((bytes[start + (at >> 3)]! >> (at & 7)) & 1) * 2 ** bit;
  }
  return value;
}

/** How many ones precede a position in a sequence of bits; the position may be its end. */
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

/** The values at some positions, which must ascend, in one pass. */
export function pickValues(bytes: Buffer, width: number, places: number[]): number[] {
  const values: number[] = [];
  let before = 0;
  for (const { count, value, at } of runsIn(bytes, width)) {
    for (let place = places[values.length]!; place < before + count; place = places[values.length]!)
      values.push(value ?? unpack(bytes, at, width, place - before));
    before += count;
    if (values.length === places.length) return values;
  }
  if (values.length === places.length) return values;
  throw new RangeError(`place ${places[values.length]} of ${before}`);
}

/** For each position, which must ascend: how many ones precede it, or -1 when its own bit is zero. One pass. */
export function pickRanks(bytes: Buffer, places: number[]): number[] {
  const ranks: number[] = [];
  let [before, ones] = [0, 0];
  for (const { count, value, at } of runsIn(bytes, 1)) {
    let [counted, inside] = [0, 0];
    for (let place = places[ranks.length]! - before; place < count; place = places[ranks.length]! - before) {
      if (value !== null) ranks.push(value === 0 ? -1 : ones + place);
      else {
        for (; counted < place; counted += 1) inside += unpack(bytes, at, 1, counted);
        ranks.push(unpack(bytes, at, 1, place) === 0 ? -1 : ones + inside);
      }
    }
    if (ranks.length === places.length) return ranks;
    if (value !== null) ones += value * count;
    else {
      // The last byte of a page may be padded with bits that belong to no row; no position lies behind it.
      for (let byte = 0; byte < count >> 3; byte += 1) ones += countOnes(bytes[at + byte]!);
    }
    before += count;
  }
  if (ranks.length === places.length) return ranks;
  throw new RangeError(`place ${places[ranks.length]} is beyond the page`);
}
