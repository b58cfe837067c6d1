import { DomainError } from '../../core/errors.ts';

/** How long an answer may be: agents pay for every word that they read. */
export const mostCharacters = 50_000;

/** Asks for fewer rows until the page is short enough. */
export async function fitPage(limit: number, ask: (limit: number) => Promise<Record<string, unknown>>): Promise<Record<string, unknown>> {
  for (let rows = limit; ; ) {
    const page = await ask(rows);
    const { length } = JSON.stringify(page);
    if (length <= mostCharacters || rows === 1) return page;
    rows = Math.max(1, Math.floor((rows * mostCharacters * 0.8) / length));
  }
}

/** A page of a list that comes whole. */
export function cutList(whole: unknown[], cursor: unknown, size: number): { items: unknown[]; next_cursor: string | null } {
  const from = readPlace(cursor);
  const end = from + size;
  return { items: whole.slice(from, end), next_cursor: end < whole.length ? String(end) : null };
}

function readPlace(cursor: unknown): number {
  if (cursor === undefined) return 0;
  if (typeof cursor === 'string' && /^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw unknownCursor();
}

export function unknownCursor(): DomainError {
  return new DomainError('validation-failed', '/cursor: is not a cursor of this tool.', 'Send `next_cursor` of the page before.', {
    errors: [{ pointer: '/cursor', detail: 'is not a cursor of this tool' }],
  });
}
