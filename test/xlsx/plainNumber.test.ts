import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatGeneral, roundDecimal } from '../../core/grid/format/decimal.ts';
import { renderAnyNumber, renderNumber } from '../../core/grid/format/formatNumber.ts';
import { parseFormat } from '../../core/grid/format/parseFormat.ts';
import { renderPlainNumber } from '../../core/grid/format/plainNumber.ts';

const section = (code: string) => {
  const [first] = parseFormat(code).numeric;
  if (!first) throw new Error(`${code} has no section for numbers`);
  return first;
};

const PLAIN = [
  '0',
  '#',
  '00000',
  '#,##0',
  '0,000',
  '#,000.0',
  '0.00',
  '#,##0.00',
  '0.0##',
  '#.##',
  '0.00%',
  '0%%',
  '"¥"#,##0',
  '_-* #,##0.0_-',
];
const OTHERS = ['#,##0,', '0.0,', '???0', '0.??', '[DBNum1]0', '# ?/?', '0.0E+00', '.00', '0"."0', '0"時"00'];

/** Amounts, halves, numbers with too many digits, tiny and huge ones. */
const sizes = fc.oneof(
  fc.nat(10_000_000),
  fc.tuple(fc.nat({ max: 1_000_000_000 }), fc.nat(9)).map(([digits, places]) => digits / 10 ** places),
  fc.tuple(fc.nat(1_000_000), fc.nat(6)).map(([whole, places]) => (whole + 0.5) / 10 ** places),
  fc.tuple(fc.maxSafeNat(), fc.nat(15)).map(([digits, places]) => digits / 10 ** places),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
);

describe('renderPlainNumber: plain number formats', () => {
  it('show every number as the general way does', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PLAIN, ...OTHERS), sizes, (code, size) => {
        expect(renderNumber(section(code), size)).toBe(renderAnyNumber(section(code), size));
      }),
      { numRuns: 20_000 },
    );
  });

  it.each(PLAIN)('%s takes the short way', (code) => {
    expect(renderPlainNumber(section(code), 1234.5)).not.toBeNull();
  });

  it.each(OTHERS)('%s does not', (code) => {
    expect(renderPlainNumber(section(code), 1234.5)).toBeNull();
  });
});

describe('formatGeneral', () => {
  it('shows what fits into eleven characters in full, and rounds the rest', () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const shown = formatGeneral(size);
        if (shown.includes('E')) return;
        expect(shown.length).toBeLessThanOrEqual(11);
        if (size >= 1 && size < 1e10) {
          const { whole, fraction } = roundDecimal(size, Math.max(0, 9 - Math.floor(Math.log10(size))));
          expect(shown).toBe(`${whole}.${fraction}`.replace(/\.?0*$/, ''));
        }
      }),
      { numRuns: 20_000 },
    );
  });
});
