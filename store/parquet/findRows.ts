import { closeSync, openSync } from 'node:fs';
import type { Chunk, RowGroup } from './fileLayout.ts';
import { readFooter } from './footers.ts';
import { openPage, readBytes } from './pages.ts';
import { readPlaces } from './readPlaces.ts';
import { Unreadable } from './textDecoders.ts';

interface FileColumns {
  /** The column of the row ids. */
  id: string;
  /** Which columns of the file are ever read. Must be the same for all readers of a file, because footers are cached. */
  isKnown(name: string): boolean;
}

/** A row of a file: text by column name. */
export type TextRow = Record<string, string | null>;

/**
 * Reads a few rows by id, as text by column name, from just the bytes of those rows; an engine would decode whole row groups.
 * Null when this reader cannot handle the file (unknown encoding, rows not in the order of their ids): use the engine then.
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

/** Like findRows, for a range of ids and some of the columns. */
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

/** Whether the group has every id between its first and last, as most groups do. */
const isDense = ({ minId, maxId, rows }: RowGroup) => maxId - minId + 1 === rows;

/** Finds the position of an id in a group, or of the next larger one. In a dense group it is computed without reading. */
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
  const places = Array.from({ length: count }, (_, i) => first + i);
  const columns = chunks.map((chunk) => ({ name: chunk.name, texts: readPlaces(file, chunk, places) }));
  return places.map((place, i) => ({
    place,
    row: Object.fromEntries(columns.map(({ name, texts }) => [name, texts[i] as string | null])),
  }));
}

/** Some rows of a file, read column by column: for wide tables, an object per row would dominate the cost. */
interface OpenedRows {
  /** The wanted ids that are in the file, ascending. */
  ids: number[];
  /** The texts of a column in these rows; null when the file does not have it. */
  texts(name: string): (string | null)[] | null;
  close(): void;
}

/** Throws `Unreadable`, here or from `texts`, when only the engine can read the file. */
export function openRows(path: string, wanted: RowsWanted, columns: FileColumns): OpenedRows {
  const file = openSync(path, 'r');
  try {
    const parts = readFooter(path, file, columns.isKnown, columns.id).flatMap((group) => {
      const places = findPlaces(file, group, wanted, columns.id);
      if (places.length === 0) return [];
      const chunks = new Map(group.chunks.map((chunk) => [chunk.name, chunk]));
      const idChunk = chunks.get(columns.id);
      if (!idChunk) throw new Unreadable('no row ids');
      const ids = readPlaces(file, idChunk, places).map(Number);
      if (isDense(group) && ids.some((id, i) => id !== group.minId + (places[i] as number))) throw new Unreadable('rows in another order');
      return [{ places, chunks, ids }];
    });
    return {
      ids: parts.flatMap(({ ids }) => ids),
      texts(name) {
        if (!parts.every(({ chunks }) => chunks.has(name))) return null;
        return parts.flatMap(({ places, chunks }) => readPlaces(file, chunks.get(name) as Chunk, places));
      },
      close: () => closeSync(file),
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** A range of ids, or a list of ids in ascending order. */
export type RowsWanted = { min: number; max: number } | { ids: number[] };

function findPlaces(file: number, group: RowGroup, wanted: RowsWanted, idName: string): number[] {
  const isInside = (id: number) => id >= group.minId && id <= group.maxId;
  if ('ids' in wanted) {
    const inside = wanted.ids.filter(isInside);
    if (inside.length === 0) return [];
    const placeOf = placeFinder(file, group, idName);
    return inside.map(placeOf).flatMap(({ place, isThere }) => (isThere ? [place] : []));
  }
  if (wanted.max < group.minId || wanted.min > group.maxId) return [];
  const placeOf = placeFinder(file, group, idName);
  const first = wanted.min <= group.minId ? 0 : placeOf(wanted.min).place;
  const end = wanted.max >= group.maxId ? group.rows : placeOf(wanted.max + 1).place;
  return Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
}
