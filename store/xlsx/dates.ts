import { momentOfSerial } from '../../core/formula/formulaValues.ts';
import { NumberMeaning } from './styles.ts';

/** Excel's serial numbers of days as milliseconds since 1970, wall clock. */

const DAY_MS = 86_400_000;
/** 9999-12-31 in the 1900 system; what is past it Excel shows as ####. */
const LAST_SERIAL = 2_958_466;
/** Serial of 1970-01-01 in the 1900 system. */
const EPOCH_SERIAL = 25_569;
const SHIFT_1904 = 1462;

/** NaN when Excel could not show the number as a date. `meaning` is a NumberMeaning. */
export function serialToMs(serial: number, date1904: boolean, meaning: number): number {
  // A time of day has no year: it counts from the same day in both systems.
  if (date1904 && meaning === NumberMeaning.date)
    return inRange(serial + SHIFT_1904) ? Math.round((serial + SHIFT_1904 - EPOCH_SERIAL) * DAY_MS) : Number.NaN;
  if (!inRange(serial)) return Number.NaN;
  return momentOfSerial(serial, meaning === NumberMeaning.length);
}

function inRange(serial: number): boolean {
  return serial >= 0 && serial < LAST_SERIAL;
}

const ISO = /^(?:(\d{4})-(\d{2})-(\d{2}))?T?(?:(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/** Cells of type `d` (strict OOXML); the wall clock as written, whatever the zone. NaN when it is no date. */
export function isoToMs(text: string): number {
  const m = ISO.exec(text.trim());
  if (!m || (m[1] === undefined && m[4] === undefined)) return Number.NaN;
  const [year, month, day] = m[1] === undefined ? [1899, 12, 31] : [Number(m[1]), Number(m[2]), Number(m[3])];
  const milli = m[7] ? Math.round(Number(`0.${m[7]}`) * 1000) : 0;
  return Date.UTC(year, month - 1, day, Number(m[4] ?? 0), Number(m[5] ?? 0), Number(m[6] ?? 0), milli);
}
