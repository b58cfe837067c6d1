import { describe, expect, it } from 'vitest';
import { TextBytes } from '../../store/duckdb/sandbox/child/textBytes.ts';

const write = (work: (out: TextBytes) => void): string => {
  const out = new TextBytes();
  work(out);
  return Buffer.from(out.view()).toString();
};

describe('TextBytes', () => {
  it('writes the days of all years as the calendar has them', () => {
    const [from, to] = [Date.parse('0001-01-01') / 86_400_000, Date.parse('9999-12-31') / 86_400_000];
    const days = [from, to];
    for (let day = from; day <= to; day += 29) days.push(day);
    // Around the ends of years and of February, also of the years that have no 29th.
    for (let year = 4; year < 9_999; year += 4)
      for (const text of ['02-28', '12-31']) {
        const day = Date.parse(`${String(year + (year % 100 === 0 ? 0 : year % 3)).padStart(4, '0')}-${text}`) / 86_400_000;
        days.push(day, day + 1, day + 2);
      }
    const wrong = days.filter((day) => write((out) => out.putDay(day)) !== new Date(day * 86_400_000).toISOString().slice(0, 10));
    expect(wrong).toEqual([]);
  });

  it.each([0, 7, 10, 99, 100, 2_147_483_647, -2_147_483_648, 2_147_483_648, -1, -10, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    'writes %d as JavaScript does',
    (value) => {
      expect(write((out) => out.putInteger(value))).toBe(String(value));
    },
  );

  it.each([
    [0, '00:00:00'],
    [59, '00:00:59'],
    [3_600, '01:00:00'],
    [86_399, '23:59:59'],
  ])('writes second %d of a day as %s', (second, text) => {
    expect(write((out) => out.putTime(second))).toBe(text);
  });

  it('grows as needed', () => {
    const text = 'x'.repeat(300_000);
    expect(write((out) => out.put(text.repeat(3)))).toBe(text.repeat(3));
  });

  it('adds nothing of a text that needs signs before some of its characters', () => {
    const out = new TextBytes();
    expect(out.putPlainText(Buffer.from('支店'), 0, 6)).toBe(true);
    expect(out.putPlainText(Buffer.from('a"b'), 0, 3)).toBe(false);
    expect(Buffer.from(out.view()).toString()).toBe('"支店"');
  });
});
