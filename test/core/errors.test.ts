import { describe, expect, it } from 'vitest';
import { renderProblem } from '../../api/http/problem.ts';
import { DomainError, notFound, type ProblemCode, problems } from '../../core/errors.ts';

/** As decided, status by status. */
const decided: Record<number, string[]> = {
  400: [
    'malformed-request',
    'uncastable-value',
    'derived-cannot-branch',
    'query-refused',
    'query-failed',
    'query-timeout',
    'query-too-large',
    'url-refused',
  ],
  401: ['unauthenticated', 'token-expired'],
  402: ['out-of-credits'],
  403: ['missing-scope', 'outside-reach', 'insufficient-role', 'governed-workbook', 'not-owner', 'bad-signature'],
  404: ['not-found'],
  405: ['method-not-allowed'],
  406: ['not-acceptable'],
  409: [
    'version-conflict',
    'name-taken',
    'in-use',
    'no-workspace',
    'cycle',
    'idempotency-in-progress',
    'subscription-active',
    'overage-unsettled',
    'default-account',
    'confirm-mismatch',
  ],
  410: ['expired'],
  413: ['too-large'],
  415: ['unsupported-media'],
  422: ['validation-failed', 'idempotency-mismatch'],
  429: ['rate-limited'],
  500: ['internal'],
  501: ['not-configured'],
  503: ['unavailable'],
};

describe('problems: the table of problems', () => {
  it.each(Object.entries(decided).flatMap(([status, slugs]) => slugs.map((slug) => [slug, Number(status)] as const)))(
    '%s is %d',
    (slug, status) => {
      expect(problems[slug as ProblemCode]).toMatchObject({ status, title: expect.stringMatching(/\S/) });
    },
  );

  it('has those and one more, for full accounts', () => {
    expect(Object.keys(problems).sort()).toEqual([...Object.values(decided).flat(), 'quota-exceeded'].sort());
    expect(problems['quota-exceeded'].status).toBe(403);
  });
});

describe('renderProblem: a problem document', () => {
  const render = (error: unknown) => {
    const reply = renderProblem(error, 'req_1');
    return { ...reply, document: JSON.parse(String(reply.raw?.data)) as Record<string, unknown> };
  };

  it.each(Object.keys(problems) as ProblemCode[])('of %s is complete', (code) => {
    const { status, document, raw } = render(new DomainError(code, 'What is wrong.', 'What to do.'));
    expect([status, raw?.type]).toEqual([problems[code].status, 'application/problem+json']);
    expect(document).toEqual({
      type: `urn:svc:problem:${code}`,
      title: problems[code].title,
      status,
      detail: 'What is wrong.',
      suggested_fix: 'What to do.',
      instance: 'req_1',
    });
  });

  it('carries its errors, its members and its headers, and never its cause', () => {
    const cause = new Error('password=hunter2');
    const { document, headers } = render(
      new DomainError('version-conflict', 'd', 'f', {
        errors: [{ pointer: '/a', detail: 'x' }],
        members: { current_version: 7 },
        headers: { 'Retry-After': '1' },
        cause,
      }),
    );
    expect(document).toMatchObject({ errors: [{ pointer: '/a', detail: 'x' }], current_version: 7 });
    expect(headers).toEqual({ Vary: 'Accept', 'Retry-After': '1' });
    expect(JSON.stringify(document)).not.toContain('hunter2');
  });

  it.each([
    new Error('relation "secrets" does not exist'),
    'a thrown text',
    null,
    undefined,
    { status: 404, detail: 'x' },
    new TypeError('x is not a function'),
  ])('of anything unknown (%s) says nothing of it', (error) => {
    const { status, document } = render(error);
    expect([status, document.type]).toEqual([500, 'urn:svc:problem:internal']);
    expect(JSON.stringify(document)).not.toMatch(/secrets|thrown|function/);
    expect(document.suggested_fix).toContain('req_1');
  });

  it('of what is not there names it', () => {
    expect(notFound('workbook')).toMatchObject({ code: 'not-found', detail: 'There is no such workbook.', status: 404 });
  });
});
