import { DomainError } from './errors.ts';

/** Cursors are opaque to the caller: the sort key of the last row seen, so that nothing is skipped or repeated. */
export function encodeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** The key in a cursor, or a 422 when it is not one that this list gave out. */
export function decodeCursor(cursor: string | undefined, kinds: readonly ('string' | 'number')[]): (string | number)[] | null {
  if (cursor === undefined) return null;
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(key) && key.length === kinds.length && key.every((part, i) => typeof part === kinds[i]))
      return key as (string | number)[];
  } catch {
    // Falls through to the refusal.
  }
  throw new DomainError(
    'validation-failed',
    'The cursor is not one that this list gave out.',
    'Use next_cursor of the page before, or leave the cursor out to start again.',
    {
      errors: [{ pointer: '/query/cursor', detail: 'is not a cursor of this list' }],
    },
  );
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** Cuts a page out of `limit + 1` rows that were read. */
export function cutPage<T>(rows: T[], limit: number, keyOf: (row: T) => readonly (string | number)[]): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null };
}

/** The usual cursor: the id of the last item. */
export function decodeIdCursor(cursor: string | undefined): string | null {
  const key = decodeCursor(cursor, ['string']);
  return key === null ? null : (key[0] as string);
}
