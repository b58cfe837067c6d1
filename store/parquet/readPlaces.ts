import type { Chunk, Page } from './fileLayout.ts';
import { openPage, readBytes, readPlain } from './pages.ts';
import { pickRanks, pickValues } from './runs.ts';
import { Unreadable } from './textDecoders.ts';

/** The texts of a chunk at some row positions, which must ascend. */
export function readPlaces(file: number, chunk: Chunk, places: number[]): (string | null)[] {
  const texts: (string | null)[] = [];
  let page = openPage(file, chunk, chunk.pagesAt);
  for (let before = 0; ; ) {
    const end = before + page.rows;
    const inside: number[] = [];
    for (let i = texts.length; i < places.length && (places[i] as number) < end; i += 1) inside.push((places[i] as number) - before);
    if (inside.length > 0) for (const text of readPage(file, chunk, page, inside)) texts.push(text);
    if (texts.length === places.length) return texts;
    before = end;
    page = openPage(file, chunk, page.end);
  }
}

function readPage(file: number, chunk: Chunk, page: Page, places: number[]): (string | null)[] {
  if (page.isFull) return readValues(file, chunk, page, places);
  const ranks = pickRanks(readBytes(file, page.levelsAt, page.valuesAt), places);
  const values = readValues(
    file,
    chunk,
    page,
    ranks.filter((rank) => rank >= 0),
  );
  let taken = 0;
  return ranks.map((rank) => (rank < 0 ? null : (values[taken++] as string)));
}

/** `places` count non-null values only, because only those are stored. */
function readValues(file: number, chunk: Chunk, page: Page, places: number[]): string[] {
  if (places.length === 0) return [];
  if (page.isPlain) return readRuns(file, chunk, page, places);
  if (chunk.dictionaryAt === null) throw new Unreadable('a dictionary is missing');
  const dictionary = openPage(file, chunk, chunk.dictionaryAt);
  const packed = readBytes(file, page.valuesAt, page.end);
  const known = new Map<number, string>();
  return pickValues(packed.subarray(1), packed[0] ?? 0, places).map((entry) => {
    const text = known.get(entry) ?? readEntry(file, chunk, dictionary, entry);
    known.set(entry, text);
    return text;
  });
}

function readEntry(file: number, chunk: Chunk, dictionary: Page, entry: number): string {
  const { bytes, from, to } = readPlain(file, chunk, dictionary, entry, 1);
  return chunk.decodeText(bytes, from(0), to(0));
}

/** Values at most this far apart are read together: skipping a few is faster than another read. */
const nearPlaces = 64;

function readRuns(file: number, chunk: Chunk, page: Page, places: number[]): string[] {
  const texts: string[] = [];
  for (let i = 0; i < places.length; ) {
    const first = places[i] as number;
    let end = i + 1;
    while (end < places.length && (places[end] as number) - (places[end - 1] as number) <= nearPlaces) end += 1;
    const { bytes, from, to } = readPlain(file, chunk, page, first, (places[end - 1] as number) - first + 1);
    for (; i < end; i += 1) {
      const at = (places[i] as number) - first;
      texts.push(chunk.decodeText(bytes, from(at), to(at)));
    }
  }
  return texts;
}
