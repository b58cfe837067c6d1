// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Which encoding a text file is in, by what its bytes allow and by what Japanese text looks like in each. */

import { isAscii, isUtf8 } from 'node:buffer';

export type CsvEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'shift_jis' | 'euc-jp';

/** Enough to tell encodings apart; taken from where the first byte beyond ASCII stands. */
export const ENCODING_SAMPLE = 256 * 1024;

export function detectBom(head: Uint8Array): CsvEncoding | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return null;
}

/** UTF-16 without a mark: every line end and separator has a zero byte beside it, always on the same side. */
export function detectUtf16(head: Uint8Array): CsvEncoding | null {
  const zeros = [0, 0];
  let separators = 0;
  for (let i = 0; i < head.length; i += 1) {
    const byte = head[i]!;
    if (byte === 0) zeros[i & 1]! += 1;
    else if (byte === 0x0a || byte === 0x0d || byte === 0x2c || byte === 0x09) separators += 1;
  }
  const [even, odd] = zeros as [number, number];
  // A NUL or two in other text are no sign of it.
  if (even + odd < Math.max(head.length / 50, separators, 2)) return null;
  if (odd > even * 20) return 'utf-16le';
  return even > odd * 20 ? 'utf-16be' : null;
}

/** Of a sample that may be cut within a character. Null when it is in none of the encodings. */
export function detectEncoding(sample: Uint8Array): CsvEncoding | null {
  if (isAscii(sample) || isUtf8(cutUtf8(sample))) return 'utf-8';
  const scores: [CsvEncoding, number][] = [
    ['utf-8', scoreUtf8(sample)],
    ['euc-jp', scoreEucJp(sample)],
    ['shift_jis', scoreShiftJis(sample)],
  ];
  const [encoding, score] = scores.reduce((best, next) => (next[1] > best[1] ? next : best));
  return score > 0 ? encoding : null;
}

/** Without the beginning of a character at its end. */
function cutUtf8(sample: Uint8Array): Uint8Array {
  let end = sample.length;
  while (end > 0 && end > sample.length - 4 && (sample[end - 1]! & 0xc0) === 0x80) end -= 1;
  return end > 0 && sample[end - 1]! >= 0xc0 ? sample.subarray(0, end - 1) : sample;
}

/** Share of broken characters up to which an encoding is still believed. */
const TOLERANCE = 0.02;

/** From 0 (not this one) to 1, by units beyond ASCII: how usual they are, if nearly all are allowed. */
function rate(usual: number, units: number, broken: number): number {
  if (units === 0 || broken > units * TOLERANCE) return 0;
  return (usual + 0.01) / units - broken / units;
}

function scoreUtf8(b: Uint8Array): number {
  let [units, broken] = [0, 0];
  for (let i = 0; i < b.length; i += 1) {
    const lead = b[i]!;
    if (lead < 0x80) continue;
    units += 1;
    const length = lead >= 0xf0 && lead <= 0xf4 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc2 ? 1 : 0;
    let seen = 0;
    while (seen < length && (b[i + 1 + seen]! & 0xc0) === 0x80) seen += 1;
    if (length === 0 || lead > 0xf4 || (seen < length && i + length < b.length)) broken += 1;
    i += seen;
  }
  return rate(units, units, broken);
}

function scoreEucJp(b: Uint8Array): number {
  let [usual, units, broken] = [0, 0, 0];
  for (let i = 0; i < b.length; i += 1) {
    const lead = b[i]!;
    if (lead < 0x80) continue;
    units += 1;
    const next = b[i + 1];
    if (next === undefined) break;
    if (lead === 0x8f) i += 2;
    else if (lead === 0x8e && next >= 0xa1 && next <= 0xdf) i += 1;
    else if (lead >= 0xa1 && lead <= 0xfe && next >= 0xa1 && next <= 0xfe) {
      // Kana, punctuation and full-width letters, and the kanji of the first level.
      if ((lead >= 0xa1 && lead <= 0xa5) || (lead >= 0xb0 && lead <= 0xcf)) usual += 1;
      i += 1;
    } else broken += 1;
  }
  return rate(usual, units, broken);
}

function scoreShiftJis(b: Uint8Array): number {
  let [usual, units, broken] = [0, 0, 0];
  for (let i = 0; i < b.length; i += 1) {
    const lead = b[i]!;
    if (lead < 0x80) continue;
    units += 1;
    // Half-width kana: text of another encoding reads like long rows of them.
    if (lead >= 0xa1 && lead <= 0xdf) {
      usual += 0.4;
      continue;
    }
    const next = b[i + 1];
    if (next === undefined) break;
    const isPair = ((lead >= 0x81 && lead <= 0x9f) || (lead >= 0xe0 && lead <= 0xfc)) && next >= 0x40 && next <= 0xfc && next !== 0x7f;
    if (!isPair) {
      broken += 1;
      continue;
    }
    if (lead >= 0x81 && lead <= 0x97) usual += 1;
    i += 1;
  }
  return rate(usual, units, broken);
}
