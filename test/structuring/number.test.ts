import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNullMark, parseNumberText } from '../../core/types/number.ts';

describe('parseNumberText: numbers as people write them', () => {
  const read: [string, number][] = [
    ['1,234', 1234],
    ['-1,234.5', -1234.5],
    ['１，２００', 1200],
    ['△35', -35],
    ['▲ 1,000', -1000],
    ['−12', -12],
    ['(250)', -250],
    ['（1,500）', -1500],
    ['¥3,000', 3000],
    ['-$5', -5],
    ['$-5', -5],
    ['96,000円', 96000],
    ['12千円', 12000],
    ['3.5億円', 350000000],
    ['12.5%', 0.125],
    ['５％', 0.05],
    ['△3.2%', -0.032],
    ['.5', 0.5],
    ['1.5e3', 1500],
    ['15人', 15],
    ['0', 0],
    ['0.0%', 0],
  ];
  it.each(read)('%s is %d', (text, value) => {
    expect(parseNumberText(text)?.value).toBeCloseTo(value, 9);
  });

  it.each(['', 'abc', '1,23', '12,34,567', '1-2', '2024/04/01', '--5', '(-5)', '1.2.3', 'A-001', '12 34', '10:30'])(
    '%s is no number',
    (text) => {
      expect(parseNumberText(text)).toBeNull();
    },
  );

  it.each(['007', '00101', '０１２'])('%s is a code', (text) => {
    expect(parseNumberText(text)?.leadingZero).toBe(true);
  });

  it.each(['-', '―', 'ー', 'n/a', 'N/A', '(NA)', '…', '－'])('%s stands for nothing', (text) => {
    expect(isNullMark(text)).toBe(true);
  });

  it.each(['0', 'なに', '-5', 'Nancy'])('%s stands for something', (text) => {
    expect(isNullMark(text)).toBe(false);
  });

  it('reads back every integer however it is decorated', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -999_999_999, max: 999_999_999 }),
        fc.constantFrom('plain', 'triangle', 'brackets', 'yen', 'wide'),
        (n, kind) => {
          const grouped = Math.abs(n)
            .toString()
            .replace(/\B(?=(\d{3})+$)/g, ',');
          const text = {
            plain: `${n < 0 ? '-' : ''}${grouped}`,
            triangle: `${n < 0 ? '△' : ''}${grouped}`,
            brackets: n < 0 ? `(${grouped})` : grouped,
            yen: `${n < 0 ? '-' : ''}${grouped}円`,
            wide: `${n < 0 ? '－' : ''}${grouped}`.replace(/[0-9,]/g, (ch) => String.fromCharCode(ch.charCodeAt(0) + 0xfee0)),
          }[kind];
          expect(parseNumberText(text)?.value).toBe(n === 0 ? 0 : n);
        },
      ),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseNumberText(text)));
  });
});
