/** A number through one section of a format: digits, thousands, percent, scaling, exponents, fractions. */

import { formatGeneral, roundDecimal } from './decimal.ts';
import { applyDigitStyle } from './kanjiDigits.ts';
import type { FormatSection, FormatToken } from './parseFormat.ts';
import { renderPlainNumber } from './plainNumber.ts';

/** `size` is the number without its sign; the sign is put in front by the caller. */
export function renderNumber(section: FormatSection, size: number): string {
  return renderPlainNumber(section, size) ?? renderAnyNumber(section, size);
}

/** Every format, token by token. */
export function renderAnyNumber(section: FormatSection, size: number): string {
  const { tokens, digitStyle } = section;
  if (section.kind === 'general' || section.kind === 'text') return renderGeneral(tokens, size, digitStyle);
  if (tokens.some((token) => token.type === 'exponent')) return renderScientific(tokens, size);
  const slash = tokens.findIndex((token) => token.type === 'slash');
  if (slash > 0 && tokens.some((token, i) => i < slash && token.type === 'digit')) return renderFraction(tokens, slash, size);
  return applyDigitStyle(renderDecimal(tokens, size), digitStyle, false);
}

function renderGeneral(tokens: FormatToken[], size: number, digitStyle: FormatSection['digitStyle']): string {
  return tokens
    .map((token) => {
      if (token.type === 'general' || token.type === 'text') return applyDigitStyle(formatGeneral(size), digitStyle, true);
      return renderPlain(token);
    })
    .join('');
}

function renderPlain(token: FormatToken): string {
  switch (token.type) {
    case 'literal':
      return token.text;
    case 'gap':
      return ' ';
    case 'percent':
      return '%';
    case 'slash':
      return '/';
    default:
      return '';
  }
}

function renderDecimal(tokens: FormatToken[], size: number): string {
  const point = tokens.findIndex((token) => token.type === 'point');
  const wholeEnd = point < 0 ? tokens.length : point;
  const places = tokens.filter((token, i) => i > wholeEnd && token.type === 'digit').length;
  const lastDigit = tokens.findLastIndex((token) => token.type === 'digit');
  const lastWhole = tokens.findLastIndex((token, i) => i < wholeEnd && token.type === 'digit');
  const firstWhole = tokens.findIndex((token, i) => i < wholeEnd && token.type === 'digit');
  let scale = 0;
  let grouped = false;
  tokens.forEach((token, i) => {
    if (token.type === 'percent') scale += 2;
    if (token.type !== 'comma') return;
    // Between digits a comma groups; after the last one each comma divides by a thousand.
    if (i > firstWhole && i < lastWhole) grouped = true;
    else if (i > lastWhole && isScalingComma(tokens, i, lastWhole, lastDigit)) scale -= 3;
  });
  const { whole, fraction } = roundDecimal(size, places, scale);
  const before = fillWhole(tokens.slice(0, wholeEnd), whole, grouped);
  if (point < 0) return before;
  return `${before}.${fillFraction(tokens.slice(point + 1), fraction)}`;
}

/** A comma right after the last digit before or behind the point. */
function isScalingComma(tokens: FormatToken[], at: number, lastWhole: number, lastDigit: number): boolean {
  let i = at - 1;
  while (tokens[i]?.type === 'comma') i -= 1;
  return i >= 0 && (i === lastWhole || i === lastDigit);
}

/** Right to left; the leftmost mark takes all digits that are left. */
function fillWhole(tokens: FormatToken[], digits: string, grouped: boolean): string {
  const marks = tokens.filter((token) => token.type === 'digit').length;
  let text = '';
  let seen = 0;
  for (const token of tokens.toReversed()) {
    if (token.type !== 'digit') {
      text = renderPlain(token) + text;
      continue;
    }
    const last = seen === marks - 1;
    const end = digits.length - seen;
    const group = (piece: string, place: number): string =>
      grouped && place > 0 && place % 3 === 0 && piece !== '' ? `${piece}${piece === ' ' ? ' ' : ','}` : piece;
    if (end <= 0) text = group(token.mark === '0' ? '0' : token.mark === '?' ? ' ' : '', seen) + text;
    else text = group(digits.charAt(end - 1), seen) + text;
    seen += 1;
    for (let place = seen; last && place < digits.length; place += 1) text = group(digits.charAt(digits.length - 1 - place), place) + text;
  }
  return text;
}

function fillFraction(tokens: FormatToken[], digits: string): string {
  const significant = digits.replace(/0+$/, '').length;
  let place = 0;
  return tokens
    .map((token) => {
      if (token.type !== 'digit') return renderPlain(token);
      const digit = digits.charAt(place);
      place += 1;
      if (place <= significant || token.mark === '0') return digit;
      return token.mark === '?' ? ' ' : '';
    })
    .join('');
}

function renderScientific(tokens: FormatToken[], size: number): string {
  const mark = tokens.findIndex((token) => token.type === 'exponent');
  const mantissa = tokens.slice(0, mark);
  const point = mantissa.findIndex((token) => token.type === 'point');
  const wholeMarks = mantissa.filter((token, i) => token.type === 'digit' && (point < 0 || i < point)).length;
  const places = mantissa.filter((token) => token.type === 'digit').length - wholeMarks;
  const step = Math.max(1, wholeMarks);
  let power = size === 0 ? 0 : Math.floor(Number(size.toExponential(14).split('e')[1]) / step) * step;
  // 9.996E+02 rounded to two places is 1.00E+03.
  if (size > 0 && roundDecimal(size, places, -power).whole.length > step) power += step;
  const { whole, fraction } = roundDecimal(size, places, -power);
  const before = fillWhole(point < 0 ? mantissa : mantissa.slice(0, point), whole, false);
  const after = point < 0 ? '' : `.${fillFraction(mantissa.slice(point + 1), fraction)}`;
  const exponent = tokens[mark] as { plus: boolean };
  const sign = power < 0 ? '-' : exponent.plus ? '+' : '';
  return `${before}${after}E${sign}${fillWhole(tokens.slice(mark + 1), power === 0 ? '' : String(Math.abs(power)), false)}`;
}

function renderFraction(tokens: FormatToken[], slash: number, size: number): string {
  // `?/8` has a fixed denominator, whose zeros read as digit marks.
  let fixed = '';
  let marks = 0;
  let end = slash + 1;
  for (const token of tokens.slice(slash + 1)) {
    if (token.type === 'digit') {
      marks += 1;
      fixed += token.mark;
    } else if (token.type === 'literal' && /^[0-9]/.test(token.text)) fixed += token.text;
    else break;
    end += 1;
  }
  let start = slash;
  while (tokens[start - 1]?.type === 'digit') start -= 1;
  const hasWhole = tokens.some((token, i) => i < start && token.type === 'digit');
  const whole = hasWhole ? Math.floor(size) : 0;
  const rest = size - whole;
  const denominator = /^[1-9][0-9]*\s*$/.test(fixed) ? Number(fixed) : 0;
  let [top, bottom] = denominator > 0 ? [Math.round(rest * denominator), denominator] : approximate(rest, 10 ** Math.min(marks, 7) - 1);
  let shownWhole = whole;
  if (hasWhole && top === bottom) {
    shownWhole += 1;
    top = 0;
  }
  const prefix = tokens
    .slice(0, slash)
    .map((token) => (token.type === 'literal' ? token.text.trim() : ''))
    .join('');
  const suffix = tokens.slice(end).map(renderPlain).join('');
  if (hasWhole && top === 0) return `${prefix}${shownWhole}${suffix}`;
  return `${prefix}${shownWhole > 0 ? `${shownWhole} ` : ''}${top}/${bottom}${suffix}`;
}

/** The nearest fraction with a denominator up to `limit`, by continued fractions. */
function approximate(value: number, limit: number): [number, number] {
  let [p0, q0, p1, q1] = [0, 1, 1, 0];
  let rest = value;
  for (let i = 0; i < 40; i += 1) {
    const whole = Math.floor(rest);
    const [p2, q2] = [whole * p1 + p0, whole * q1 + q0];
    if (q2 > limit) {
      // The last step in part: the best that still fits.
      const step = Math.floor((limit - q0) / q1);
      const partial: [number, number] = [step * p1 + p0, step * q1 + q0];
      return Math.abs(partial[0] / partial[1] - value) < Math.abs(p1 / q1 - value) ? partial : [p1, q1];
    }
    [p0, q0, p1, q1] = [p1, q1, p2, q2];
    if (Math.abs(rest - whole) < 1e-10) break;
    rest = 1 / (rest - whole);
  }
  return [p1, q1];
}
