const dayMs = 86_400_000;
/** Days from the day before Excel's first to 1970-01-01. */
const epochSerial = 25_569;
/** 1 March 1900. Excel counts a 29 February 1900 that never was, so days before are one number lower. */
const firstRegular = 61;

/** The number that some digits of a text are; NaN if there is something else. */
function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i += 1) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

/** The number under which Excel stores a day; null for days that it does not know: before 1900 and after 9999. */
export function dateSerial(text: string): number | null {
  return text.length === 10 ? readDay(text) : null;
}

function readDay(text: string): number | null {
  const year = digits(text, 0, 4);
  // Before 1900 Excel knows no days, and `Date.UTC` takes the years 0 to 99 for others.
  if (!(year >= 1900) || text[4] !== '-' || text[7] !== '-') return null;
  const days = Date.UTC(year, digits(text, 5, 7) - 1, digits(text, 8, 10)) / dayMs + epochSerial;
  return Number.isNaN(days) ? null : days < firstRegular ? days - 1 : days;
}

export function timestampSerial(text: string): number | null {
  if (text[10] !== ' ') return null;
  const [day, time] = [readDay(text), readTime(text, 11)];
  return day === null || time === null ? null : day + time;
}

/** A time of day as a part of a day. */
export function timeSerial(text: string): number | null {
  return readTime(text, 0);
}

function readTime(text: string, from: number): number | null {
  const [hours, minutes, seconds] = [digits(text, from, from + 2), digits(text, from + 3, from + 5), digits(text, from + 6, from + 8)];
  const fraction = text.length === from + 8 ? 0 : text[from + 8] === '.' ? Number(text.slice(from + 8)) : Number.NaN;
  const total = hours * 3600 + minutes * 60 + seconds + fraction;
  return Number.isNaN(total) ? null : total / 86_400;
}
