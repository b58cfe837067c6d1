import { readSync } from 'node:fs';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import type { Chunk, Page } from './fileLayout.ts';
import { rankAt } from './runs.ts';
import { Unreadable } from './textDecoders.ts';

const encodings = { plain: 0, runLength: 3, dictionary: new Set([2, 8]) };
const kinds = { data: 0, dictionary: 2 };

/** Enough for the header of a page and, when it holds no null, its definition levels. */
const headBytes = 512;

/** The page that begins at a position. */
export function openPage(file: number, chunk: Chunk, at: number): Page {
  const known = chunk.pages.get(at);
  if (known) return known;
  const head = readBytes(file, at, Math.min(at + headBytes, chunk.end));
  const reader = { view: new DataView(head.buffer, head.byteOffset, head.length), offset: 0 };
  const { field_1: kind, field_3: size, field_5: data, field_7: dictionary } = deserializeTCompactProtocol(reader);
  const bodyAt = at + reader.offset;
  const page: Page = { rows: 0, isPlain: true, levelsAt: bodyAt, valuesAt: bodyAt, end: bodyAt + Number(size), isFull: true, marks: null };
  if (kind === kinds.dictionary && dictionary) page.rows = dictionary.field_1;
  else {
    page.rows = data?.field_1;
    page.isPlain = data?.field_2 === encodings.plain;
    const isKnown = page.isPlain || encodings.dictionary.has(data?.field_2);
    if (kind !== kinds.data || !isKnown || data.field_3 !== encodings.runLength) throw new Unreadable('a page in another form');
    if (chunk.optional) {
      page.levelsAt = bodyAt + 4;
      page.valuesAt = page.levelsAt + head.readUInt32LE(bodyAt - at);
      const levels = head.subarray(page.levelsAt - at, page.valuesAt - at);
      page.isFull = page.valuesAt <= at + head.length && rankAt(levels, page.rows) === page.rows;
    }
  }
  chunk.pages.set(at, page);
  return page;
}

const betweenMarks = 256;

/** Consecutive values: their bytes, and where each begins and ends in them. */
interface PlainValues {
  bytes: Buffer;
  from(index: number): number;
  to(index: number): number;
}

/** `place` counts non-null values only, because only those are stored. */
export function readPlain(file: number, chunk: Chunk, page: Page, place: number, count: number): PlainValues {
  const { width } = chunk;
  if (width !== null) {
    const bytes = readBytes(file, page.valuesAt + place * width, page.valuesAt + (place + count) * width);
    return { bytes, from: (i) => i * width, to: (i) => (i + 1) * width };
  }
  if (chunk.type === 'BOOLEAN') {
    const packed = readBytes(file, page.valuesAt + (place >> 3), page.valuesAt + ((place + count - 1) >> 3) + 1);
    const bit = (at: number) => ((packed[at >> 3] ?? 0) >> (at & 7)) & 1;
    return { bytes: Buffer.from(Array.from({ length: count }, (_, i) => bit((place & 7) + i))), from: (i) => i, to: (i) => i + 1 };
  }
  return readTexts(file, page, place, count);
}

function readTexts(file: number, page: Page, place: number, count: number): PlainValues {
  page.marks ??= markTexts(readBytes(file, page.valuesAt, page.end));
  const mark = Math.floor(place / betweenMarks);
  const after = Math.floor((place + count - 1) / betweenMarks) + 1;
  const from = page.valuesAt + (page.marks[mark] as number);
  const to = after < page.marks.length ? page.valuesAt + (page.marks[after] as number) : page.end;
  const bytes = readBytes(file, from, to);
  const ends = new Int32Array(count);
  let [at, start] = [0, 0];
  for (let i = mark * betweenMarks; i < place + count; i += 1) {
    if (i === place) start = at;
    at += 4 + bytes.readUInt32LE(at);
    if (i >= place) ends[i - place] = at;
  }
  return { bytes, from: (i) => (i === 0 ? start : (ends[i - 1] as number)) + 4, to: (i) => ends[i] as number };
}

function markTexts(texts: Buffer): number[] {
  const marks: number[] = [];
  let at = 0;
  for (let i = 0; at < texts.length; i += 1) {
    if (i % betweenMarks === 0) marks.push(at);
    at += 4 + texts.readUInt32LE(at);
  }
  return marks;
}

/**
 * Synchronous on purpose: these are a few bytes of files that are in the page cache, and asynchronous reads of them take ten
 * times as long.
 */
export function readBytes(file: number, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(to - from);
  if (readSync(file, bytes, 0, bytes.length, from) !== bytes.length) throw new Error('the file ends too early');
  return bytes;
}
