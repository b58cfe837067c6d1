/** A cell as the rules for types see it. */

import { CellKind, type Grid, PLAIN_STYLE } from '../../grid/grid.ts';
import type { CellValue } from '../../types/infer.ts';

/** 1900-01-01: Excel stores a time of day as a moment of the day before its first day. */
export const FIRST_DAY = Date.UTC(1900, 0, 1);

const DAY_MS = 86_400_000;

/** The first days, which are told apart by their format. */
export function isEarly(moment: number): boolean {
  return moment >= FIRST_DAY && moment < FIRST_DAY + 31 * DAY_MS;
}

/** 1 to 31 that a format such as `d` shows as a day: a day of some month, and not of January 1900. */
export function readDayNumber(grid: Grid, i: number): number | null {
  const moment = grid.numbers[i]!;
  if (!isEarly(moment) || moment % DAY_MS !== 0) return null;
  const { numberFormat } = grid.styles[grid.styleIds[i]!] ?? PLAIN_STYLE;
  return /[yge]/i.test(numberFormat) || isDurationFormat(numberFormat) ? null : (moment - FIRST_DAY) / DAY_MS + 1;
}

export function isDurationFormat(numberFormat: string): boolean {
  return /\[[hms]+\]/i.test(numberFormat);
}

const MINUTE_MS = 60_000;

/** Minutes of a length of time or a time of day, for arithmetic; null for anything with a day in it. */
export function readMinutes(grid: Grid, i: number): number | null {
  if (grid.kinds[i] !== CellKind.date) return null;
  const { numberFormat } = grid.styles[grid.styleIds[i]!] ?? PLAIN_STYLE;
  if (grid.numbers[i]! >= FIRST_DAY && !isDurationFormat(numberFormat)) return null;
  return Math.round((grid.numbers[i]! - FIRST_DAY + DAY_MS) / 1000) / (MINUTE_MS / 1000);
}

/** `33:30:00` of a length of time that a format such as `[h]:mm` shows, from a day on; null for dates and times of day. */
function readDuration(grid: Grid, i: number): string | null {
  const moment = grid.numbers[i]!;
  if (moment < FIRST_DAY || !isDurationFormat((grid.styles[grid.styleIds[i]!] ?? PLAIN_STYLE).numberFormat)) return null;
  const seconds = Math.round((moment - FIRST_DAY + DAY_MS) / 1000);
  const pad = (part: number) => String(part).padStart(2, '0');
  return `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
}

export function readValue(grid: Grid, i: number): CellValue {
  switch (grid.kinds[i]) {
    case CellKind.number:
      return { kind: 'number', number: grid.numbers[i]!, numberFormat: (grid.styles[grid.styleIds[i]!] ?? PLAIN_STYLE).numberFormat };
    case CellKind.boolean:
      return { kind: 'boolean', boolean: grid.numbers[i] === 1 };
    case CellKind.date: {
      const day = readDayNumber(grid, i);
      if (day !== null) return { kind: 'number', number: day, numberFormat: 'General' };
      const duration = readDuration(grid, i);
      if (duration !== null) return { kind: 'text', text: duration };
      const iso = new Date(grid.numbers[i]!).toISOString();
      const timeOnly = grid.numbers[i]! < FIRST_DAY;
      return { kind: 'date', iso: iso.slice(0, 19), hasTime: !timeOnly && iso.slice(11, 19) !== '00:00:00', timeOnly };
    }
    case CellKind.error:
      return { kind: 'error', text: grid.strings[grid.texts[i]!] ?? '' };
    default:
      return { kind: 'text', text: (grid.strings[grid.texts[i]!] ?? '').trim() };
  }
}
