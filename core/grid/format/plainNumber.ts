/**
 * The number formats that nearly all cells have (`0`, `#,##0`, `0.00%`, `"¥"#,##0`) without walking through their tokens:
 * the same text as the general way, many times faster. Sheets have millions of numbers and a handful of formats.
 */

import type { FormatSection, FormatToken } from './parseFormat.ts';

interface PlainLayout {
  before: string;
  after: string;
  grouped: boolean;
  hasPoint: boolean;
  /** Digits that stand even where they are zeros. */
  leastWhole: number;
  leastPlaces: number;
  places: number;
  /** Power of ten by which `%` multiplies. */
  scale: number;
}

const POWERS = Float64Array.from({ length: 16 }, (_, i) => Number(`1e${i}`));
const LARGEST = 1e15;
/** Decimals up to which a number is tried as a decimal one. */
const MOST_DECIMALS = 9;

const layouts = new WeakMap<FormatSection, PlainLayout | null>();

/** Null where the format or the number is not a plain one. `size` is not negative. */
export function renderPlainNumber(section: FormatSection, size: number): string | null {
  let layout = layouts.get(section);
  if (layout === undefined) {
    layout = findLayout(section);
    layouts.set(section, layout);
  }
  if (!layout) return null;
  const { places } = layout;
  const scaled = roundScaled(size, layout.scale + places);
  if (scaled < 0) return null;
  const unit = POWERS[places] ?? 1;
  const whole = Math.floor(scaled / unit);
  let digits = whole === 0 ? '' : String(whole);
  if (digits.length < layout.leastWhole) digits = digits.padStart(layout.leastWhole, '0');
  if (layout.grouped && digits.length > 3) digits = groupThousands(digits);
  if (!layout.hasPoint) return layout.before + digits + layout.after;
  let fraction = places === 0 ? '' : String(scaled - whole * unit).padStart(places, '0');
  while (fraction.length > layout.leastPlaces && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  return `${layout.before}${digits}.${fraction}${layout.after}`;
}

/** `size` × 10^`shift` rounded half up in decimal; -1 when fifteen digits do not say exactly what `size` is. */
function roundScaled(size: number, shift: number): number {
  for (let decimals = 0; decimals <= MOST_DECIMALS; decimals += 1) {
    const power = POWERS[decimals] ?? 1;
    const mantissa = Math.round(size * power);
    if (mantissa >= LARGEST) return -1;
    if (mantissa / power !== size) continue;
    if (shift >= decimals) {
      const scaled = mantissa * (POWERS[shift - decimals] ?? Number.POSITIVE_INFINITY);
      return scaled < LARGEST ? scaled : -1;
    }
    const divisor = POWERS[decimals - shift] ?? 1;
    let quotient = Math.floor(mantissa / divisor);
    let rest = mantissa - quotient * divisor;
    // The division may have been rounded up to the next whole number.
    if (rest < 0) {
      quotient -= 1;
      rest += divisor;
    }
    return rest * 2 >= divisor ? quotient + 1 : quotient;
  }
  return -1;
}

function groupThousands(digits: string): string {
  let end = digits.length - 3;
  let text = digits.slice(end);
  for (; end > 3; end -= 3) text = `${digits.slice(end - 3, end)},${text}`;
  return `${digits.slice(0, end)},${text}`;
}

/** `before` digits `.` digits `after`, and nothing else; null for all other formats. */
function findLayout({ kind, tokens, digitStyle }: FormatSection): PlainLayout | null {
  if (kind !== 'number' || digitStyle !== 0) return null;
  const isNumeral = (token: FormatToken): boolean => token.type === 'digit' || token.type === 'comma' || token.type === 'point';
  const first = tokens.findIndex(isNumeral);
  const last = tokens.findLastIndex(isNumeral);
  const numerals = tokens.slice(first, last + 1);
  if (first < 0 || !numerals.every(isNumeral)) return null;
  const [before, after] = [renderAround(tokens.slice(0, first)), renderAround(tokens.slice(last + 1))];
  if (before === null || after === null) return null;
  const marks = numerals.map((token) => (token.type === 'digit' ? token.mark : token.type === 'point' ? '.' : ',')).join('');
  // Commas between digits only, marks that are always shown nearest to the point.
  const match = /^(#(?:[#,]*#)?)?,?(0(?:[0,]*0)?)?(\.(0*)(#*))?$/.exec(marks);
  if (!match || marks.startsWith(',') || /,(?:\.|$)/.test(marks)) return null;
  const [, optional = '', required = '', point = '', fixed = '', trimmed = ''] = match;
  if (optional === '' && required === '') return null;
  const places = fixed.length + trimmed.length;
  const scale = 2 * tokens.filter((token) => token.type === 'percent').length;
  if (places + scale >= POWERS.length) return null;
  return {
    before,
    after,
    grouped: marks.includes(','),
    hasPoint: point !== '',
    leastWhole: required.replaceAll(',', '').length,
    leastPlaces: fixed.length,
    places,
    scale,
  };
}

/** Null when there is something that depends on the number. */
function renderAround(tokens: FormatToken[]): string | null {
  let text = '';
  for (const token of tokens) {
    if (token.type === 'literal') text += token.text;
    else if (token.type === 'gap') text += ' ';
    else if (token.type === 'percent') text += '%';
    else return null;
  }
  return text;
}
