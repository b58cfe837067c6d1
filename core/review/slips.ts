/** Numbers that one slip of the finger makes of each other. */

import { countDecimals } from './statistics.ts';

/** Fewer digits are one slip away from too many numbers. */
const leastDigits = 3;
const decimalsKept = 6;

/**
 * Whether the digits of one number become those of the other by one digit more, one less, one other, two neighbours swapped, or
 * a point that moved. What is meant may have been rounded to the digits that are stated.
 */
export function isSlip(stated: number, meant: number): boolean {
  if (!Number.isFinite(meant) || Math.sign(stated) !== Math.sign(meant)) return false;
  const rounded = Number(meant.toFixed(Math.min(decimalsKept, countDecimals(stated))));
  return isOneSlip(stated, meant) || (rounded !== meant && isOneSlip(stated, rounded));
}

function isOneSlip(stated: number, meant: number): boolean {
  const [a, b] = [writeDigits(stated), writeDigits(meant)];
  if (stated === meant) return false;
  if (Math.max(a.length, b.length) < leastDigits || Math.abs(a.length - b.length) > 1) return false;
  if (a === b) return true;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (a.length !== b.length) return Math.min(left.length, right.length) === 0;
  return left.length === 1 || (left.length === 2 && left[0] === right[1] && left[1] === right[0]);
}

/** Without the point and the zeros behind it. */
function writeDigits(value: number): string {
  return String(Number(Math.abs(value).toFixed(decimalsKept))).replace('.', '');
}
