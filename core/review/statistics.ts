/** Robust figures: one wild value does not move them. */

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** The median distance from the median, scaled to be the standard deviation of normal values. */
export function deviation(values: readonly number[], centre = median(values)): number {
  return 1.4826 * median(values.map((value) => Math.abs(value - centre)));
}

/** How many decimal digits a number has that were written, not computed: long ones are exact. */
export function countDecimals(value: number): number {
  const text = String(Number(value.toPrecision(12)));
  const point = text.indexOf('.');
  return point < 0 || text.includes('e') ? 0 : text.length - point - 1;
}

/** Decimal logarithm of the size; zero and numbers near it count as one of the last digit. */
export function magnitude(value: number): number {
  return Math.log10(Math.max(Math.abs(value), 1e-9));
}

/** A number for messages, without the noise of binary fractions. */
export function showNumber(value: number): string {
  return Number(value.toPrecision(12)).toLocaleString('en-US', { maximumFractionDigits: 10 });
}
