/** Figures that nobody typed: a division left them with all the digits that a cell holds. */

import { isSameSum, unitOf } from './sums.ts';

/** Digits that a cell holds for sure; sums of decimals are off behind them (`242981.6399999999`). */
const HELD_DIGITS = 13;

/** People round what they type to fewer digits than this. */
const LONG_DIGITS = 11;

/** How near two long figures must be, and the digits in which they then agree. */
const LONG_TOLERANCE = 1e-9;
const LONG_WORTH = 9;

/** One may be a constant such as a rate of exchange. */
const MIN_LONG = 2;

export function isLong(value: number): boolean {
  if (Number.isInteger(value)) return false;
  const [digits = ''] = value.toExponential(HELD_DIGITS - 1).split('e');
  return digits.replace(/[-.]/g, '').replace(/0+$/, '').length >= LONG_DIGITS;
}

interface Figure {
  column: number;
  value: number;
  isLong: boolean;
  unit: number;
}

/** The figures of a row that has long ones; null for other rows. */
export function readLongFigures(values: (number | null)[]): Figure[] | null {
  const figures = values.flatMap((value, column) =>
    value === null ? [] : [{ column, value, isLong: isLong(value), unit: unitOf([value]) }],
  );
  return figures.filter((figure) => figure.isLong).length < MIN_LONG ? null : figures;
}

export function isSameLong(stated: number, computed: number): boolean {
  return Math.abs(stated - computed) <= Math.abs(stated) * LONG_TOLERANCE;
}

/**
 * Digits in which long figures agree with what they would be if they were computed, times the scale; 0 where any figure does not.
 * `computedOf` is null where nothing can be computed.
 */
export function countLongDigits(figures: Figure[], computedOf: (column: number) => number | null, scale = 1): number {
  let agreeing = 0;
  for (const figure of figures) {
    const unscaled = computedOf(figure.column);
    if (unscaled === null) continue;
    const computed = unscaled * scale;
    if (!figure.isLong) {
      if (!isSameSum(figure.value, computed, 1, figure.unit)) return 0;
    } else if (!isSameLong(figure.value, computed)) return 0;
    else agreeing += 1;
  }
  return agreeing < MIN_LONG ? 0 : agreeing * LONG_WORTH;
}
