import { closeSync, openSync } from 'node:fs';
import { type Chunk, type RowGroup, readFooter } from './footers.ts';
import { openPage, readBytes, readPlain } from './pages.ts';
import { rankAt, valueAt } from './runs.ts';
import { Unreadable } from './valueText.ts';

/**
 * A few rows of a file by their id, as text by column name. An engine decodes a whole row group to find one row, and plans
 * that anew each time; here only the bytes of the row are looked up. Null when the file holds what only an engine can read,
 * or rows in another order than that of their ids.
 */
export function findRows(
  path: string,
  ids: number[],
  columns: { id: string; isWanted(name: string): boolean },
): Map<number, Record<string, string | null>> | null {
  const file = openSync(path, 'r');
  try {
    const groups = readFooter(path, file, columns.isWanted, columns.id);
    const found = new Map<number, Record<string, string | null>>();
    for (const group of groups) {
      const within = ids.filter((id) => id >= group.minId && id <= group.maxId);
      if (within.length === 0) continue;
      for (const [id, place] of placeIds(file, group, within, columns.id)) {
        const row = Object.fromEntries(group.chunks.map((chunk) => [chunk.name, readText(file, chunk, place)]));
        if (row[columns.id] !== String(id)) throw new Unreadable('rows in another order');
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

/** Where in a group the rows stand. Most groups miss no id, and then it can be told without looking. */
function placeIds(file: number, group: RowGroup, ids: number[], idName: string): Map<number, number> {
  if (group.maxId - group.minId + 1 === group.rows) return new Map(ids.map((id) => [id, id - group.minId]));
  const chunk = group.chunks.find(({ name }) => name === idName);
  if (!chunk) throw new Unreadable('no row ids');
  const page = openPage(file, chunk, chunk.pagesAt);
  if (page.rows !== group.rows || !page.isPlain || !page.isFull || chunk.width !== 8) throw new Unreadable('row ids in another form');
  const values = readBytes(file, page.valuesAt, page.end);
  group.isOrdered ??= isAscending(values);
  if (!group.isOrdered) throw new Unreadable('rows in another order');
  const places = new Map<number, number>();
  for (const id of ids) {
    let [low, high] = [0, group.rows - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Number(values.readBigInt64LE(middle * 8)) < id) low = middle + 1;
      else high = middle;
    }
    if (Number(values.readBigInt64LE(low * 8)) === id) places.set(id, low);
  }
  return places;
}

function isAscending(values: Buffer): boolean {
  for (let at = 8; at < values.length; at += 8) if (values.readBigInt64LE(at) <= values.readBigInt64LE(at - 8)) return false;
  return true;
}

/** The text of a chunk's value in a row. */
function readText(file: number, chunk: Chunk, row: number): string | null {
  let page = openPage(file, chunk, chunk.pagesAt);
  let place = row;
  while (place >= page.rows) {
    place -= page.rows;
    page = openPage(file, chunk, page.end);
  }
  if (!page.isFull) {
    const { isSet, before } = rankAt(readBytes(file, page.levelsAt, page.valuesAt), place);
    if (!isSet) return null;
    place = before;
  }
  if (page.isPlain) return chunk.textOf(readPlain(file, chunk, page, place));
  if (chunk.dictionaryAt === null) throw new Unreadable('a dictionary is missing');
  const dictionary = openPage(file, chunk, chunk.dictionaryAt);
  const packed = readBytes(file, page.valuesAt, page.end);
  return chunk.textOf(readPlain(file, chunk, dictionary, valueAt(packed.subarray(1), packed[0] ?? 0, place)));
}
