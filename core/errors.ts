/** Every refusal of the service: code, status and title. The only mapping of codes. */
export const problems = {
  'malformed-request': { status: 400, title: 'The request could not be read' },
  'uncastable-value': { status: 400, title: 'A value cannot be cast' },
  'derived-cannot-branch': { status: 400, title: 'A derived table cannot branch' },
  'query-refused': { status: 400, title: 'The query is not allowed' },
  'query-failed': { status: 400, title: 'The query failed' },
  'query-timeout': { status: 400, title: 'The query took too long' },
  'query-too-large': { status: 400, title: 'The query needs too much' },
  'url-refused': { status: 400, title: 'The address is not allowed' },
  unauthenticated: { status: 401, title: 'Not authenticated' },
  'token-expired': { status: 401, title: 'The credential has expired' },
  'out-of-credits': { status: 402, title: 'Out of credits' },
  'missing-scope': { status: 403, title: 'A scope is missing' },
  'outside-reach': { status: 403, title: "Outside the credential's reach" },
  'insufficient-role': { status: 403, title: 'The role does not allow this' },
  'governed-workbook': { status: 403, title: 'The workbook is governed' },
  'quota-exceeded': { status: 403, title: 'No room in the account' },
  'not-owner': { status: 403, title: 'Only the owner may do this' },
  'bad-signature': { status: 403, title: 'The signature does not match' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'not-acceptable': { status: 406, title: 'No format that can be made' },
  'version-conflict': { status: 409, title: 'The table has changed' },
  'name-taken': { status: 409, title: 'The name is taken' },
  'in-use': { status: 409, title: 'Still in use' },
  'no-workspace': { status: 409, title: 'The account has no workspace' },
  cycle: { status: 409, title: 'The transforms form a cycle' },
  'idempotency-in-progress': { status: 409, title: 'The same request is still running' },
  'subscription-active': { status: 409, title: 'A subscription is active' },
  'overage-unsettled': { status: 409, title: 'Overage is unsettled' },
  'default-account': { status: 409, title: 'The default account cannot be deleted' },
  'confirm-mismatch': { status: 409, title: 'The confirmation does not match' },
  expired: { status: 410, title: 'Expired' },
  'too-large': { status: 413, title: 'Too large' },
  'unsupported-media': { status: 415, title: 'Unsupported media type' },
  'validation-failed': { status: 422, title: 'The request is not valid' },
  'idempotency-mismatch': { status: 422, title: 'The idempotency key was used for another request' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  'not-configured': { status: 501, title: 'Not configured' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** One of several faults of a request. */
export interface ProblemItem {
  pointer?: string;
  type?: string;
  detail: string;
}

interface ProblemExtras {
  errors?: ProblemItem[];
  /** Extra members of the problem document, such as `current_version`. */
  members?: Record<string, unknown>;
  /** Response headers, such as `Retry-After`. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** A refusal with a text for the caller. The cause is logged and never shown. */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly suggestedFix: string,
    readonly extras: ProblemExtras = {},
  ) {
    super(`${code}: ${detail}`, { cause: extras.cause });
  }

  get status(): number {
    return problems[this.code].status;
  }
}

/** Something that the service needs is away or full for the moment. What was asked for can be done later, without a change. */
export class PartAwayError extends DomainError {
  constructor(detail: string, suggestedFix: string, extras: ProblemExtras = {}) {
    super('unavailable', detail, suggestedFix, extras);
  }
}

/** Adds a full stop unless the text ends with punctuation. */
export function asSentence(text: string): string {
  return /[.?!…]$/.test(text) ? text : `${text}.`;
}

/** Describes a list of errors in one sentence: the first one, and how many more there are. */
export function describeFirst(errors: ProblemItem[]): string {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return asSentence(`${first?.pointer || 'The request'}: ${first?.detail}${more}`);
}

/** For an answer that would take too much memory. */
export function answerTooLarge(mostBytes: number, suggestedFix: string): DomainError {
  return new DomainError('too-large', `The answer would hold more than ${mostBytes / 1024 ** 2} MiB.`, suggestedFix);
}

export function notFound(what: string, suggestedFix = 'Check the id, and that this credential may see it.'): DomainError {
  return new DomainError('not-found', `There is no such ${what}.`, suggestedFix);
}
