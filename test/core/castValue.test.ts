import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { castValue, Refusal } from '../../core/cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';

const cast = (type: string, value: unknown) => castValue(parseColumnType(type) as ColumnType, value);

describe('castValue: a value becomes canonical text or is refused', () => {
  it.each([
    ['VARCHAR', 1, '1'],
    ['VARCHAR', 1e22, '1e+22'],
    ['VARCHAR', Number('12345678901234567890'), null],
    ['VARCHAR', Number('1e400'), null],
    ['JSON', { a: [1, 6.02e23, 0.1 + 0.2] }, '{"a":[1,6.02e+23,0.30000000000000004]}'],
    ['JSON', { a: [Number('9007199254740993')] }, null],
    ['JSON', Number('12345678901234567890'), null],
    ['JSON', Number('-1e400'), null],
    ['JSON', ['a\u0000b'], null],
    ['JSON', { '\ud800': 1 }, null],
    ['BIGINT', Number('9007199254740993'), null],
    ['BIGINT', '9007199254740993', '9007199254740993'],
    ['TIMESTAMP', '2024-04-01T10:00:00+09:00', '2024-04-01 01:00:00'],
    ['TIMESTAMP', '2024-04-01T10:00:00.25-0330', '2024-04-01 13:30:00.25'],
    ['TIMESTAMP', '0001-01-01T09:00:00+09:00', '0001-01-01 00:00:00'],
    ['TIMESTAMP', '0001-01-01T08:59:59+09:00', null],
    ['TIMESTAMP', '9999-12-31T18:59:59-05:00', '9999-12-31 23:59:59'],
    ['TIMESTAMP', '9999-12-31T19:00:00-05:00', null],
    ['TIMESTAMP', '2024-04-01T10:00:00+24:00', null],
    ['TIMESTAMP', '2024-04-01T10:00:00+09:60', null],
  ])('%s %j: %j', (type, value, text) => {
    const found = cast(type, value);
    if (text === null) expect(found).toBeInstanceOf(Refusal);
    else expect(found).toBe(text);
  });

  it('every date and time with any offset is one of the years 1 to 9999, or refused', () => {
    const two = (most: number) => fc.integer({ min: 0, max: most }).map((n) => String(n).padStart(2, '0'));
    const year = fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, '0'));
    const sign = fc.constantFrom('+', '-');
    const stamp = fc
      .tuple(fc.oneof(year, fc.constantFrom('0001', '9999')), two(13), two(32), two(24), two(60), sign, two(99), two(99))
      .map(([y, mo, d, h, mi, s, oh, om]) => `${y}-${mo}-${d}T${h}:${mi}:00${s}${oh}:${om}`);
    fc.assert(
      fc.property(stamp, (text) => {
        const result = cast('TIMESTAMP', text);
        if (!(result instanceof Refusal)) expect(result).toMatch(/^(?!0000)\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);
      }),
    );
  });
});
