import { describe, expect, it } from 'vitest';
import { DomainError, PartAwayError } from '../../core/errors.ts';
import { explainAway } from '../../store/explainAway.ts';

const withCode = (code: string, message = 'in its own words, with a value: 社外秘') => Object.assign(new Error(message), { code });

describe('an error that says that a part is away', () => {
  it.each([
    ['the database is stopping', withCode('57P01'), 'database'],
    ['nobody listens there', withCode('ECONNREFUSED'), 'database'],
    ['the disk is full', withCode('ENOSPC'), 'no room'],
    ['the disk of the database is full', withCode('53100'), 'no room'],
    ['the quota is used up', withCode('EDQUOT'), 'no room'],
    ["in the engine's words", new Error('IO Error: Could not write file "x": No space left on device'), 'no room'],
    ['within others', new Error('query failed', { cause: new Error('step failed', { cause: withCode('ENOSPC') }) }), 'no room'],
  ])('is 503, with what to do and none of its words: %s', (_, error, part) => {
    const explained = explainAway(error) as PartAwayError;
    expect(explained).toBeInstanceOf(PartAwayError);
    expect([explained.status, explained.code]).toEqual([503, 'unavailable']);
    expect(explained.detail).toContain(part);
    expect(`${explained.detail} ${explained.suggestedFix}`).not.toContain('社外秘');
    expect(explained.suggestedFix).toMatch(/try again/i);
    expect(explained.extras.headers).toHaveProperty('Retry-After');
  });
});

describe('another error', () => {
  it.each([
    ['a broken rule of the database', withCode('23505')],
    ['a refusal, whatever caused it', new DomainError('not-found', 'It is not there.', 'Look again.', { cause: withCode('ENOSPC') })],
    ['no error at all', 'text'],
  ])('stays as it is: %s', (_, error) => {
    expect(explainAway(error)).toBe(error);
  });

  it('is not waited for where another change held a lock for too long', () => {
    expect(explainAway(withCode('55P03'))).not.toBeInstanceOf(PartAwayError);
    expect(explainAway(withCode('55P03'))).toMatchObject({ code: 'unavailable' });
  });
});
