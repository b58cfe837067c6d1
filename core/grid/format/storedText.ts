import { CellKind } from '../grid.ts';
import { TIME_ORIGIN_MS } from './formatDate.ts';

const DAY_MS = 86_400_000;

/**
 * A cell's value as it is stored, in one text that does not depend on its format: numbers in full, `2024-04-01`,
 * `2024-04-01 09:30:00`, a time of day as `09:30:00`, booleans and texts as they are shown.
 */
export function storedText(kind: CellKind, number: number, text: string): string {
  switch (kind) {
    case CellKind.number:
      return String(number);
    case CellKind.boolean:
      return number ? 'TRUE' : 'FALSE';
    case CellKind.date:
      return storedDate(number);
    default:
      return text;
  }
}

function storedDate(ms: number): string {
  const timeMs = ((ms % DAY_MS) + DAY_MS) % DAY_MS;
  // Before Excel's first day there are only times of day.
  if (ms < TIME_ORIGIN_MS + DAY_MS) return storedTime(timeMs);
  const date = new Date(ms);
  const day = `${String(date.getUTCFullYear()).padStart(4, '0')}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`;
  return timeMs === 0 ? day : `${day} ${storedTime(timeMs)}`;
}

function storedTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const time = `${twoDigits(Math.floor(seconds / 3600))}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`;
  return ms % 1000 === 0 ? time : `${time}.${String(ms % 1000).padStart(3, '0')}`;
}

function twoDigits(n: number): string {
  return n < 10 ? `0${n}` : String(n);
}
