/** Numbers as people type them into sheets: separators, signs, currency, units, full-width digits. */

import { swapMarks } from './decimalComma.ts';

interface ParsedNumber {
  value: number;
  /** Written as a percentage; the value is already the fraction. */
  percent: boolean;
  /** `007`: digits that are a code, not a quantity. */
  leadingZero: boolean;
}

/** Factors of units written in a cell (`3千円` is 3000). A unit line above a table does not change values. */
const UNIT_FACTORS: Record<string, number> = {
  円: 1,
  銭: 0.01,
  千円: 1e3,
  万円: 1e4,
  百万円: 1e6,
  千万円: 1e7,
  億円: 1e8,
  十億円: 1e9,
  兆円: 1e12,
  千: 1e3,
  万: 1e4,
  百万: 1e6,
  億: 1e8,
};

/** Counters after a number change nothing about its value. */
const COUNTERS = '人|名|個|件|台|本|枚|冊|社|店|回|点|戸|世帯|箱|式|kg|g|t|km|m|cm|mm|㎡|m2|ha|L|ml|kWh|kW|MW|MWh';

const NUMBER = /^([+-]?)(?:(?:¥|\\|\$|US\$|€|£|USD|JPY|EUR)\s*)?([+-]?)(\d{1,3}(?:,\d{3})+|\d+)?(\.\d+)?(?:[eE]([+-]?\d{1,3}))?\s*(%|‰)?$/;

const UNIT_SUFFIX = /^(.*?\d)\s*(銭|千円|百万円|千万円|万円|十億円|億円|兆円|円|百万|千|万|億)$/;
const COUNTER_SUFFIX = new RegExp(`^(.*?\\d)\\s*(?:${COUNTERS})$`);

/** NFKC makes full-width digits, commas, percent signs and brackets plain; dashes that mean minus are unified. */
function normalizeNumberText(text: string): string {
  return (
    text
      .normalize('NFKC')
      .replace(/[\s\u00a0]+/g, ' ')
      .trim()
      // `144,00 €`, `1 200,50 EUR`: the currency behind the figure, and blanks between thousands before decimals.
      .replace(/(?<=\d)\s*(?:€|£|EUR|USD|GBP|CHF)$/, '')
      .replace(/^([-+]?\d{1,3})((?: \d{3})+)(?=[.,]\d{1,2}$)/, (_, first: string, rest: string) => first + rest.replaceAll(' ', ''))
      .replace(/^[△▲▵]\s*/u, '-')
      .replace(/^[−‐‑–—－﹣]\s*(?=[\d.¥$])/u, '-')
  );
}

/** With `decimalComma`, `1.234,50` is read and `1.234` is 1234. */
export function parseNumberText(text: string, decimalComma = false): ParsedNumber | null {
  if (text.length > 40 || !/[\d０-９]/.test(text)) return null;
  const plain = normalizeNumberText(text);
  let rest = decimalComma ? swapMarks(plain) : plain;
  let sign = 1;
  const bracketed = /^\((.*)\)$/.exec(rest);
  if (bracketed) {
    rest = bracketed[1]!.trim();
    sign = -1;
    // `(-5)` would be a double negation, which nobody means.
    if (/^[-+]/.test(rest)) return null;
  }
  let factor = 1;
  const unit = UNIT_SUFFIX.exec(rest);
  if (unit) {
    factor = UNIT_FACTORS[unit[2]!] ?? 1;
    rest = unit[1]!;
  } else {
    const counter = COUNTER_SUFFIX.exec(rest);
    if (counter) rest = counter[1]!;
  }
  const match = NUMBER.exec(rest);
  if (!match) return null;
  const [, outerSign, innerSign, whole, fraction, exponent, percent] = match;
  if (whole === undefined && fraction === undefined) return null;
  if (outerSign && innerSign) return null;
  if (outerSign === '-' || innerSign === '-') sign = -sign;
  const digits = (whole ?? '0').replace(/,/g, '');
  const magnitude = Number(`${digits}${fraction ?? ''}${exponent ? `e${exponent}` : ''}`);
  if (!Number.isFinite(magnitude)) return null;
  const scale = percent === '%' ? 100 : percent === '‰' ? 1000 : 1;
  const value = (sign * magnitude * factor) / scale;
  return {
    value: Object.is(value, -0) ? 0 : value,
    percent: percent !== undefined,
    leadingZero: digits.length > 1 && digits.startsWith('0'),
  };
}

const NULL_MARKS = new Set([
  '-',
  '--',
  '---',
  '‐',
  '―',
  'ー',
  '—',
  '–',
  '−',
  '・',
  '…',
  '...',
  '..',
  '*',
  '***',
  'n/a',
  'na',
  'n.a.',
  '#n/a',
  'nan',
  '#value!',
  '#div/0!',
  '#ref!',
  '#num!',
  'n.a',
  '欠測',
  '(na)',
  '(x)',
  '(n.a.)',
  '(-)',
  '(d)',
  '(s)',
  '(z)',
  'nil',
  'null',
  'none',
  'x',
  'z',
  '(b)',
  '(nsd)',
  'n.d.',
  'nd',
  '該当なし',
  'なし',
  '不明',
  '未定',
  '該当無し',
]);

/** Marks that stand for "no value" in a column of numbers or dates. */
export function isNullMark(text: string): boolean {
  if (text.length > 8) return false;
  const plain = text.normalize('NFKC').replace(/\s+/g, '').toLowerCase();
  return plain === '' || NULL_MARKS.has(plain) || /^[-‐―ー—–−.…・]+$|^\*+$/u.test(plain);
}
