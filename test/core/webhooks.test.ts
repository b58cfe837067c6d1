import { describe, expect, it } from 'vitest';
import { readRetryAfter } from '../../core/outbound/retryAfter.ts';
import { judgeAnswer } from '../../core/webhooks/judgeAnswer.ts';
import { planNextTry } from '../../core/webhooks/tries.ts';
import { VariableReader } from '../../store/variableReader.ts';
import { variables } from '../../store/variables.ts';

const at = new Date('2026-11-16T00:00:00Z');
const hourMs = 3_600_000;
const delaysMs = new VariableReader({}).delays('SVC_WEBHOOK_DELAYS');
const waitMs = (tries: number, random = 0, retryAfterMs: number | null = null) => {
  const next = planNextTry({ tries, at, random, retryAfterMs }, delaysMs);
  return next && next.getTime() - at.getTime();
};

describe('tries of a delivery', () => {
  it('are ten, with the waits that are documented between them', () => {
    const seconds = Array.from({ length: 10 }, (_, n) => waitMs(n + 1)).map((ms) => ms && ms / 1000);
    expect(seconds).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, null]);
    expect(variables.SVC_WEBHOOK_DELAYS.default).toBe('5s, 5m, 30m, 2h, 5h, 10h, 14h, 20h, 24h');
  });

  it('come later by chance, by a tenth at most, never earlier', () => {
    expect([waitMs(2, 0), waitMs(2, 0.5), waitMs(2, 1)]).toEqual([300_000, 315_000, 330_000]);
  });

  it.each([
    ['a longer wait is granted', 1, hourMs, hourMs],
    ['a shorter one changes nothing', 4, 1_000, 2 * hourMs],
    ['a day is the most', 1, 1_000 * hourMs, 24 * hourMs],
    ['none after the last try', 10, hourMs, null],
  ])('Retry-After: %s', (_, tries, retryAfterMs, wanted) => {
    expect(waitMs(tries, 0, retryAfterMs)).toBe(wanted);
  });

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Mon, 16 Nov 2026 01:00:00 GMT', hourMs],
    ['Sun, 15 Nov 2026 01:00:00 GMT', 0],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['2026', 2_026_000],
    ['99999999999999999999', null],
    ['', null],
    [undefined, null],
  ])('Retry-After: %s is read', (value, wanted) => {
    expect(readRetryAfter(value, at)).toBe(wanted);
  });

  it.each(['5', '5 s', 's', '-1s', '1d', '5s;6s'])('the setting %s is refused', (value) => {
    const reader = new VariableReader({ SVC_WEBHOOK_DELAYS: value });
    reader.delays('SVC_WEBHOOK_DELAYS');
    expect(reader.problems).toHaveLength(1);
  });

  it('of a setting are read in milliseconds', () => {
    expect(new VariableReader({ SVC_WEBHOOK_DELAYS: '50ms, 2s,3m,1h' }).delays('SVC_WEBHOOK_DELAYS')).toEqual([50, 2_000, 180_000, hourMs]);
  });
});

describe('the answer of a receiver', () => {
  it.each([
    [200, 'delivered', null],
    [204, 'delivered', null],
    [299, 'delivered', null],
    [302, 'failed', 'Redirects are not followed'],
    [304, 'failed', 'Redirects are not followed'],
    [400, 'failed', 'The receiver answered 400.'],
    [410, 'gone', 'switched off'],
    [429, 'failed', 'The receiver answered 429.'],
    [503, 'failed', 'The receiver answered 503.'],
  ])('%i is %s', (status, verdict, error) => {
    expect(judgeAnswer(status)).toEqual({ verdict, error: error === null ? null : expect.stringContaining(error) });
  });
});
