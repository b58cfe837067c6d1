import { DomainError } from '../../core/errors.ts';
import type { Operation } from './contract.ts';

interface Given {
  query: Record<string, unknown>;
  body: unknown;
}

/**
 * `If-Match` counts as `expected_version` where the request has none. It is never passed over: what it says is checked, or the
 * request is refused. Returns the query, which may have it now; a body gets it in place.
 */
export function applyIfMatch(operation: Operation, header: string | undefined, { query, body }: Given): Record<string, unknown> {
  if (header === undefined) return query;
  const expected = readVersion(header);
  const target = findTarget(operation, body);
  if (target) {
    target.expected_version = agree(target.expected_version, expected);
    return query;
  }
  if (!operation.queryNames.has('expected_version')) {
    const fix = 'Send the request without it, or read the table and check its version yourself.';
    throw refuse('this operation checks no version', fix);
  }
  // In an address null is the text `null`.
  return { ...query, expected_version: agree(query.expected_version, String(expected)) };
}

type Target = Record<string, unknown>;

/** The part of the body that `expected_version` belongs into. Null: there is none. */
function findTarget({ versionPlace }: Operation, body: unknown): Target | null {
  if (versionPlace === null || !isObject(body)) return null;
  if (versionPlace === 'body') return body;
  // New tables have no version yet.
  return isObject(body.target) && body.target.mode === 'append' ? body.target : null;
}

const isObject = (value: unknown): value is Target => typeof value === 'object' && value !== null && !Array.isArray(value);

function agree<T>(given: unknown, expected: T): T {
  if (given === undefined || given === expected) return expected;
  throw refuse('differs from `expected_version`', 'Send one of them, or both with the same version.');
}

/** The version in an ETag of a table. `*` is whatever is current, as null is. */
function readVersion(header: string): number | null {
  const text = header.trim();
  if (text === '*') return null;
  const version = /^"(\d{1,15})(?:-[\w-]*)?"$/.exec(text)?.[1];
  if (version !== undefined) return Number(version);
  const what = text.startsWith('W/') ? 'is a weak tag, which matches nothing' : 'is not one ETag of a table';
  throw refuse(what, 'Send the ETag of the table as it came, or its edit version in quotes: `If-Match: "42"`.');
}

function refuse(what: string, suggestedFix: string): DomainError {
  return new DomainError('validation-failed', `If-Match ${what}.`, suggestedFix, {
    errors: [{ pointer: '/header/If-Match', detail: what }],
  });
}
