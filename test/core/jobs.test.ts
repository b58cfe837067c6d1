import { describe, expect, it } from 'vitest';
import { DomainError, type ProblemCode, problems } from '../../core/errors.ts';
import { endings, explainFailure, isFinal, isOver, mayBeRetried, toProblem } from '../../core/jobs/endings.ts';

const job = { status: 'failed', error: null, problem: null } as const;

describe('a refusal that is kept with a job', () => {
  it.each(Object.keys(problems) as ProblemCode[])('%s comes back as it was', (code) => {
    const extras = { errors: [{ pointer: '/rows/0', detail: 'no' }], members: { current_version: 3 } };
    const error = new DomainError(code, 'Detail.', 'Fix.', extras);
    const back = explainFailure({ ...job, problem: toProblem(error) });
    expect([back.code, back.detail, back.suggestedFix]).toEqual([code, 'Detail.', 'Fix.']);
    expect(back.extras).toMatchObject(extras);
  });

  it('is temporary where only a text is known', () => {
    const { code, detail, extras } = explainFailure({ ...job, error: 'Broken.' });
    expect([code, detail, extras.headers]).toEqual(['unavailable', 'Broken.', { 'Retry-After': '5' }]);
  });
});

describe('a job that has ended', () => {
  it.each([
    ['pending', false],
    ['running', false],
    ['succeeded', true],
    ['failed', true],
  ] as const)('%s: %s', (status, over) => expect(isOver({ ...job, status })).toBe(over));

  it.each([
    ['validation-failed', false],
    ['too-large', false],
    ['unsupported-media', false],
    ['uncastable-value', false],
    ['in-use', true],
    ['out-of-credits', true],
    ['insufficient-role', true],
    ['unavailable', true],
  ] as const)('by %s may fare better when it is asked for again: %s', (code, better) =>
    expect(mayBeRetried({ ...job, problem: { code, detail: '', suggestedFix: '' } })).toBe(better),
  );

  it('by cancelling, stopping or for unknown reasons may fare better, a successful one not', () => {
    for (const problem of [...Object.values(endings), null]) expect(mayBeRetried({ ...job, problem })).toBe(true);
    expect(mayBeRetried({ ...job, status: 'succeeded' })).toBe(false);
  });
});

describe('a step that is refused', () => {
  it('is not run again, unless it is the service that fails', () => {
    expect(isFinal(new DomainError('validation-failed', '', ''))).toBe(true);
    expect(isFinal(new DomainError('insufficient-role', '', ''))).toBe(true);
    expect(isFinal(new DomainError('not-configured', '', ''))).toBe(true);
    expect(isFinal(new DomainError('unavailable', '', ''))).toBe(false);
    expect(isFinal(new DomainError('rate-limited', '', ''))).toBe(false);
    expect(isFinal(new Error('a fault'))).toBe(false);
  });
});
