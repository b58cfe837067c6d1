/** A day, a time of day, or both, on the wall clock. */
export interface Moment {
  /** Since 1970, or since midnight where there is no day. */
  ms: number;
  hasDay: boolean;
}

const pattern = /^(?:(\d{4})-(\d{2})-(\d{2}))?[T ]?(?:(\d{2}):(\d{2}):(\d{2}(?:\.\d+)?))?$/;
const dayMs = 86_400_000;
/** The serial number of 1970-01-01 in Excel. */
const epochSerial = 25_569;

/** Reads canonical text of a DATE, TIMESTAMP or TIME. */
export function readMoment(text: string): Moment | null {
  const parts = pattern.exec(text.trim());
  if (!parts || (parts[1] === undefined && parts[4] === undefined)) return null;
  const hasDay = parts[1] !== undefined;
  const timeMs = (Number(parts[4] ?? 0) * 3600 + Number(parts[5] ?? 0) * 60) * 1000 + Number(parts[6] ?? 0) * 1000;
  if (!hasDay) return { ms: timeMs, hasDay };
  const date = new Date(Date.UTC(2000, Number(parts[2]) - 1, Number(parts[3])));
  date.setUTCFullYear(Number(parts[1]));
  return { ms: date.getTime() + timeMs, hasDay };
}

/** The number under which Excel keeps a moment; null before 1900. It counts a 29 February 1900, which did not exist. */
export function toSerial({ ms, hasDay }: Moment): number | null {
  if (!hasDay) return ms / dayMs;
  const serial = ms / dayMs + epochSerial;
  const counted = serial < 61 ? serial - 1 : serial;
  return counted >= 1 ? counted : null;
}
