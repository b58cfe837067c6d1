const dayMs = 86_400_000;
/** Days from the day before Excel's first to 1970-01-01. */
const epochSerial = 25_569;
/** 1 March 1900. Excel counts a 29 February 1900 that never was, so days before are one number lower. */
const firstRegular = 61;

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const timestampPattern = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?)$/;
const timePattern = /^(\d{2}):(\d{2}):(\d{2}(?:\.\d{1,6})?)$/;

/** The number under which Excel stores a day; null for days that it does not know: before 1900 and after 9999. */
export function dateSerial(text: string): number | null {
  const parts = datePattern.exec(text);
  if (!parts) return null;
  const days = Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])) / dayMs + epochSerial;
  const serial = days < firstRegular ? days - 1 : days;
  // `Date.UTC` takes the years 0 to 99 for 1900 to 1999.
  return serial >= 1 && Number(parts[1]) >= 1900 ? serial : null;
}

export function timestampSerial(text: string): number | null {
  const parts = timestampPattern.exec(text);
  const day = parts && dateSerial(parts[1] as string);
  const time = parts && timeSerial(parts[2] as string);
  return day === null || time === null ? null : day + time;
}

/** A time of day as a part of a day. */
export function timeSerial(text: string): number | null {
  const parts = timePattern.exec(text);
  return parts && (Number(parts[1]) * 3600 + Number(parts[2]) * 60 + Number(parts[3])) / 86_400;
}
