/**
 * Decimal digits of a number as Excel sees them: fifteen significant ones, halves rounded away from zero.
 * Binary rounding (`toFixed`) shows 1.005 as 1.00 where Excel shows 1.01.
 */
interface Decimal {
  /** Without leading zeros; empty for zero. */
  whole: string;
  /** Exactly as many digits as were asked for. */
  fraction: string;
}

/** `value` × 10^`shift`, not negative, rounded to `places` decimals. */
export function roundDecimal(value: number, places: number, shift = 0): Decimal {
  const [mantissa, power] = value.toExponential(14).split('e') as [string, string];
  const digits = mantissa.replace('.', '');
  // 0.d1d2d3… × 10^point
  const point = Number(power) + 1 + shift;
  const kept = point + places;
  let rounded: string;
  if (kept < 0) rounded = '';
  else if (kept >= digits.length) rounded = digits.padEnd(kept, '0');
  else rounded = digits.charCodeAt(kept) >= 53 ? addOne(digits.slice(0, kept)) : digits.slice(0, kept);
  const padded = rounded.padStart(places, '0');
  const whole = padded.slice(0, padded.length - places).replace(/^0+/, '');
  return { whole, fraction: places > 0 ? padded.slice(padded.length - places) : '' };
}

function addOne(digits: string): string {
  let at = digits.length - 1;
  while (at >= 0 && digits[at] === '9') at -= 1;
  const zeros = '0'.repeat(digits.length - 1 - at);
  return at < 0 ? `1${zeros}` : digits.slice(0, at) + String.fromCharCode(digits.charCodeAt(at) + 1) + zeros;
}

const MOST_CHARACTERS = 11;

/** The `General` format: at most eleven characters, exponents where they are needed. */
export function formatGeneral(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e11) return String(value === 0 ? 0 : value);
  const size = Math.abs(value);
  const sign = value < 0 ? '-' : '';
  // What fits is shown in full.
  const full = String(size);
  if (full.length <= MOST_CHARACTERS && !full.includes('e')) return sign + full;
  const power = Math.floor(Math.log10(size));
  if (power >= 11 || power < -9 || (power < -4 && significantDigits(size) - power > 10)) return sign + formatScientific(size);
  // Ten characters for digits, with the point the eleventh.
  const places = power >= 0 ? Math.max(0, 9 - power) : 9;
  const { whole, fraction } = roundDecimal(size, places);
  const trimmed = fraction.replace(/0+$/, '');
  return `${sign}${whole || '0'}${trimmed && `.${trimmed}`}`;
}

function significantDigits(size: number): number {
  return size.toExponential(14).replace(/e.*$/, '').replace(/0+$/, '').replace('.', '').length;
}

function formatScientific(size: number): string {
  const [mantissa, power] = size.toExponential(5).split('e') as [string, string];
  const trimmed = mantissa.replace(/\.?0+$/, '');
  return `${trimmed}E${power.startsWith('-') ? '-' : '+'}${power.replace(/^[+-]/, '').padStart(2, '0')}`;
}
