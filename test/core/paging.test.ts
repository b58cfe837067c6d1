import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../core/errors.ts';
import { cutPage, decodeCursor, encodeCursor, pageOf } from '../../core/paging.ts';

/** What lists sort by: text without U+0000, and whole numbers. */
const text = fc.string({ unit: 'grapheme' }).filter((part) => !part.includes('\u0000'));
const key = fc.array(fc.oneof(text, fc.maxSafeInteger()), {
  minLength: 1,
  maxLength: 4,
});
const kindsOf = (parts: readonly unknown[]) => parts.map((part) => typeof part as 'string' | 'number');

describe('encodeCursor and decodeCursor: a cursor', () => {
  it('comes back as it went', () => {
    fc.assert(
      fc.property(key, (parts) => {
        // JSON knows no negative zero.
        const plain = parts.map((part) => (part === 0 ? 0 : part));
        expect(decodeCursor(encodeCursor(plain), kindsOf(plain))).toEqual(plain);
      }),
    );
  });

  it('can stand in an address as it is', () => {
    fc.assert(
      fc.property(key, (parts) => {
        expect(encodeCursor(parts)).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('that is not there is no cursor', () => {
    expect(decodeCursor(undefined, ['string'])).toBeNull();
  });

  it('of another kind of list is refused', () => {
    const refusals: [string, ('string' | 'number')[]][] = [
      [encodeCursor(['a']), ['number']],
      [encodeCursor([1]), ['string']],
      [encodeCursor(['a', 'b']), ['string']],
      [encodeCursor(['a']), ['string', 'string']],
      [encodeCursor([]), ['string']],
      [Buffer.from('"a"').toString('base64url'), ['string']],
      [Buffer.from('{"0":"a","length":1}').toString('base64url'), ['string']],
      [Buffer.from('[null]').toString('base64url'), ['string']],
      ['', ['string']],
      ['not base64!', ['string']],
    ];
    for (const [cursor, kinds] of refusals)
      expect(() => decodeCursor(cursor, kinds)).toThrow(expect.objectContaining({ code: 'validation-failed' }));
  });

  it('of any text whatever is a key of the right shape or a refusal, never another error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.base64String(),
          fc.json().map((text) => Buffer.from(text).toString('base64url')),
        ),
        (text) => {
          try {
            const decoded = decodeCursor(text, ['string']);
            expect(decoded).toHaveLength(1);
            expect(typeof decoded?.[0]).toBe('string');
          } catch (error) {
            expect(error).toBeInstanceOf(DomainError);
          }
        },
      ),
    );
  });
});

describe('cutPage: pages', () => {
  /** Reads a whole list by its pages, as an endpoint does: `limit + 1` rows after the cursor. */
  function readAll(rows: number[], limit: number): { pages: number[][]; cursors: (string | null)[] } {
    const pages: number[][] = [];
    const cursors: (string | null)[] = [];
    for (let after = Number.NEGATIVE_INFINITY; ; ) {
      const page = cutPage(rows.filter((row) => row > after).slice(0, limit + 1), limit, (row) => [row]);
      pages.push(page.items);
      cursors.push(page.nextCursor);
      if (page.nextCursor === null) return { pages, cursors };
      after = decodeCursor(page.nextCursor, ['number'])?.[0] as number;
    }
  }

  it('give every row once, in order, and end without an empty page', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer()), fc.integer({ min: 1, max: 7 }), (numbers, limit) => {
        const rows = [...numbers].sort((a, b) => a - b);
        const { pages, cursors } = readAll(rows, limit);
        expect(pages.flat()).toEqual(rows);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
        expect(rows.length === 0 || (pages.at(-1)?.length ?? 0) > 0).toBe(true);
        expect(cursors.filter((cursor) => cursor === null)).toHaveLength(1);
      }),
    );
  });
});

describe('a page that is read', () => {
  it('asks for one row more than it holds, and leads through the whole list', async () => {
    const rows = Array.from({ length: 23 }, (_, i) => i + 1);
    const asked: number[] = [];
    const seen: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const after = (decodeCursor(cursor, ['number'])?.[0] as number | undefined) ?? 0;
      const page = await pageOf(
        5,
        async (limit) => {
          asked.push(limit);
          return rows.filter((row) => row > after).slice(0, limit);
        },
        (row) => [row],
      );
      seen.push(...page.items);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(rows);
    expect(asked).toEqual([6, 6, 6, 6, 6]);
  });
});
