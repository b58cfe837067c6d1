import { DomainError } from './errors.ts';
import { type IdPrefix, isId } from './ids/ids.ts';

/** The sort key of the last row seen, so that no row is skipped or repeated. Opaque to callers. */
export function encodeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** The key in a cursor; null without one. Refuses a cursor that this list did not issue. */
export function decodeCursor(cursor: string | undefined, kinds: readonly ('string' | 'number')[]): (string | number)[] | null {
  if (cursor === undefined) return null;
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(key) && key.length === kinds.length && key.every((part, i) => isSound(part, kinds[i])))
      return key as (string | number)[];
  } catch {
    // Falls through to the refusal.
  }
  throw foreignCursor();
}

export function foreignCursor(): DomainError {
  return new DomainError(
    'validation-failed',
    'The cursor is not one that this list gave out.',
    'Use next_cursor of the page before, or leave the cursor out to start again.',
    {
      errors: [{ pointer: '/query/cursor', detail: 'is not a cursor of this list' }],
    },
  );
}

/** Refuses values that our cursors never hold and that the database would reject. */
function isSound(part: unknown, kind: 'string' | 'number' | undefined): boolean {
  if (typeof part !== kind) return false;
  return typeof part === 'string' ? part.isWellFormed() && !part.includes('\u0000') : Number.isSafeInteger(part);
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

export interface PageQuery {
  cursor?: string;
  limit?: number;
}

export const usualLimit = 50;

type Key = readonly (string | number)[];

/** Cuts a page out of rows that may be more than its limit. */
export function cutPage<T>(rows: T[], limit: number, keyOf: (row: T) => Key): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null };
}

/** Reads a page. Asks for one row more than the limit, to know whether another page follows. */
export async function pageOf<T>(limit: number, fetch: (limit: number) => Promise<T[]>, keyOf: (row: T) => Key): Promise<Page<T>> {
  return cutPage(await fetch(limit + 1), limit, keyOf);
}

/** Reads a page of a list whose cursor is the id of the last item. `fetch` receives the id to continue after, or null. */
export async function pageById<T>(
  query: PageQuery,
  prefix: IdPrefix,
  fetch: (last: string | null, limit: number) => Promise<T[]>,
  idOf: (row: T) => string,
): Promise<Page<T>> {
  const last = decodeIdCursor(query.cursor, prefix);
  return pageOf(
    query.limit ?? usualLimit,
    (limit) => fetch(last, limit),
    (row) => [idOf(row)],
  );
}

/** Decodes a cursor that is the id of the last item; the prefix shows which list it is from. */
export function decodeIdCursor(cursor: string | undefined, prefix: IdPrefix): string | null {
  const key = decodeCursor(cursor, ['string']);
  if (key === null) return null;
  const id = key[0] as string;
  if (!isId(id, prefix)) throw foreignCursor();
  return id;
}
