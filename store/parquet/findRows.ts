import { closeSync, openSync } from 'node:fs';
import { type Chunk, type RowGroup, readFooter } from './footers.ts';
import { openPage, type Page, readBytes, readPlain } from './pages.ts';
import { rankAt, valuesAt } from './runs.ts';
import { Unreadable } from './valueText.ts';

export interface FileColumns {
  /** The column of the row ids. */
  id: string;
  /** What the reader of the file may ask for at all; the same for all who read it. */
  isKnown(name: string): boolean;
}

/** A row of a file: text by column name. */
export type TextRow = Record<string, string | null>;

/**
 * A few rows of a file by their id, as text by column name. An engine decodes a whole row group to find one row, and plans
 * that anew each time; here only the bytes of the row are looked up. Null when the file holds what only an engine can read,
 * or rows in another order than that of their ids.
 */
export function findRows(path: string, ids: number[], columns: FileColumns): Map<number, TextRow> | null {
  return lookUp(path, columns, (file, group) => {
    const within = ids.filter((id) => id >= group.minId && id <= group.maxId);
    if (within.length === 0) return [];
    const placeOf = placeFinder(file, group, columns.id);
    return within.flatMap((id) => {
      const { place, isThere } = placeOf(id);
      return isThere ? readRows(file, group.chunks, place, 1) : [];
    });
  });
}

/** The same for all rows whose ids lie in a range, and only for some columns. */
export function findRange(
  path: string,
  { min, max }: { min: number; max: number },
  columns: FileColumns,
  isWanted: (name: string) => boolean,
): Map<number, TextRow> | null {
  return lookUp(path, columns, (file, group) => {
    if (max < group.minId || min > group.maxId) return [];
    const placeOf = placeFinder(file, group, columns.id);
    const first = min <= group.minId ? 0 : placeOf(min).place;
    const end = max >= group.maxId ? group.rows : placeOf(max + 1).place;
    const chunks = group.chunks.filter(({ name }) => name === columns.id || isWanted(name));
    return end > first ? readRows(file, chunks, first, end - first) : [];
  });
}

function lookUp(
  path: string,
  columns: FileColumns,
  readGroup: (file: number, group: RowGroup) => { place: number; row: TextRow }[],
): Map<number, TextRow> | null {
  const file = openSync(path, 'r');
  try {
    const found = new Map<number, TextRow>();
    for (const group of readFooter(path, file, columns.isKnown, columns.id)) {
      for (const { place, row } of readGroup(file, group)) {
        const id = Number(row[columns.id]);
        if (isDense(group) && id !== group.minId + place) throw new Unreadable('rows in another order');
        found.set(id, row);
      }
    }
    return found;
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Misses no id between its first and its last, as most do. */
const isDense = ({ minId, maxId, rows }: RowGroup) => maxId - minId + 1 === rows;

/** Where in a group a row stands, or the next one after it. In a dense group that can be told without looking. */
function placeFinder(file: number, group: RowGroup, idName: string): (id: number) => { place: number; isThere: boolean } {
  if (isDense(group)) return (id) => ({ place: id - group.minId, isThere: true });
  const chunk = group.chunks.find(({ name }) => name === idName);
  if (!chunk) throw new Unreadable('no row ids');
  const page = openPage(file, chunk, chunk.pagesAt);
  if (page.rows !== group.rows || !page.isPlain || !page.isFull || chunk.width !== 8) throw new Unreadable('row ids in another form');
  const values = readBytes(file, page.valuesAt, page.end);
  group.isOrdered ??= isAscending(values);
  if (!group.isOrdered) throw new Unreadable('rows in another order');
  const idAt = (place: number) => Number(values.readBigInt64LE(place * 8));
  return (id) => {
    let [low, high] = [0, group.rows];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (idAt(middle) < id) low = middle + 1;
      else high = middle;
    }
    return { place: low, isThere: low < group.rows && idAt(low) === id };
  };
}

function isAscending(values: Buffer): boolean {
  for (let at = 8; at < values.length; at += 8) if (values.readBigInt64LE(at) <= values.readBigInt64LE(at - 8)) return false;
  return true;
}

function readRows(file: number, chunks: Chunk[], first: number, count: number): { place: number; row: TextRow }[] {
  const columns = chunks.map((chunk) => ({ name: chunk.name, texts: readTexts(file, chunk, first, count) }));
  return Array.from({ length: count }, (_, i) => ({
    place: first + i,
    row: Object.fromEntries(columns.map(({ name, texts }) => [name, texts[i] as string | null])),
  }));
}

/** The texts of a chunk's values in some rows that follow each other. */
function readTexts(file: number, chunk: Chunk, first: number, count: number): (string | null)[] {
  const texts: (string | null)[] = [];
  let page = openPage(file, chunk, chunk.pagesAt);
  let place = first;
  for (;;) {
    if (place < page.rows) {
      const inside = Math.min(page.rows - place, count - texts.length);
      texts.push(...readPage(file, chunk, page, place, inside));
      if (texts.length === count) return texts;
    }
    place = Math.max(0, place - page.rows);
    page = openPage(file, chunk, page.end);
  }
}

function readPage(file: number, chunk: Chunk, page: Page, first: number, count: number): (string | null)[] {
  if (page.isFull) return readValues(file, chunk, page, first, count);
  const levels = readBytes(file, page.levelsAt, page.valuesAt);
  const isSet = valuesAt(levels, 1, first, count);
  const values = readValues(
    file,
    chunk,
    page,
    rankAt(levels, first),
    isSet.reduce((sum, bit) => sum + bit, 0),
  );
  let taken = 0;
  return isSet.map((bit) => (bit === 1 ? (values[taken++] as string) : null));
}

/** Values that are not null, counted among those. */
function readValues(file: number, chunk: Chunk, page: Page, place: number, count: number): string[] {
  if (page.isPlain) return readPlain(file, chunk, page, place, count).map(chunk.textOf);
  if (chunk.dictionaryAt === null) throw new Unreadable('a dictionary is missing');
  const dictionary = openPage(file, chunk, chunk.dictionaryAt);
  const packed = readBytes(file, page.valuesAt, page.end);
  const known = new Map<number, string>();
  return valuesAt(packed.subarray(1), packed[0] ?? 0, place, count).map((entry) => {
    const text = known.get(entry) ?? chunk.textOf(readPlain(file, chunk, dictionary, entry, 1)[0] as Buffer);
    known.set(entry, text);
    return text;
  });
}
