/** Numbers and dates as their cell shows them, for the common number formats; others show the plain value. */

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

export function formatNumber(value: number, numberFormat: string): string {
  if (numberFormat === 'General' || numberFormat === '') return plainNumber(value);
  const section = pickSection(numberFormat, value);
  const pattern = section
    .replace(/"[^"]*"/g, '')
    .replace(/\\./g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/[_*]./g, '');
  if (!/[0#]/.test(pattern)) return plainNumber(value);
  const percent = pattern.includes('%');
  const zeros = /^0+$/.exec(pattern.replace(/[^0#.,]/g, ''));
  // `00000` pads codes with zeros: what people see is the code.
  if (zeros && zeros[0].length > 1 && Number.isInteger(value)) return `${value < 0 ? '-' : ''}${String(Math.abs(value)).padStart(zeros[0].length, '0')}`;
  if (!percent) return plainNumber(value);
  const decimals = (/\.(0+)/.exec(pattern)?.[1] ?? '').length;
  return `${(value * 100).toFixed(Math.min(decimals, 20))}%`;
}

function pickSection(numberFormat: string, value: number): string {
  const sections = numberFormat.split(';');
  if (value < 0 && sections.length > 1) return sections[1]!;
  return sections[0]!;
}

/** The shortest text that gives the number back, without the noise of binary fractions. */
export function plainNumber(value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? String(value) : BigInt(value).toString();
  return String(Number(value.toPrecision(15)));
}

/** 1900-01-01: Excel stores a time of day as a moment of the day before its first day. */
export const FIRST_DAY = Date.UTC(1900, 0, 1);

export function formatDate(ms: number, numberFormat: string): string {
  const iso = new Date(ms).toISOString();
  if (ms < FIRST_DAY) return iso.slice(11, 19);
  const plain = iso.slice(11, 19) === '00:00:00' ? iso.slice(0, 10) : iso.slice(0, 19).replace('T', ' ');
  const pattern = numberFormat.split(';')[0]!.replace(/\[(?!h|m|s)[^\]]*\]/gi, '');
  // Full dates are shown in one unambiguous form; only coarser ones (a month, a year) as the cell has them.
  if (!/[ymge]/i.test(pattern) || /d/i.test(pattern.replace(/"[^"]*"/g, '')) || /[hs]/i.test(pattern.replace(/"[^"]*"/g, '')) || /[ge]/i.test(pattern)) return plain;
  return formatMonth(new Date(ms), pattern);
}

function formatMonth(date: Date, pattern: string): string {
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return pattern
    .replace(/\\(.)/g, '"$1"')
    .replace(/"([^"]*)"|y+|m+|[_*]./gi, (token, literal: string | undefined) => {
      if (literal !== undefined) return literal;
      if (/^y/i.test(token)) return token.length > 2 ? String(year) : String(year % 100).padStart(2, '0');
      if (/^m/i.test(token)) return token.length > 3 ? MONTHS[month]! : token.length === 3 ? MONTHS[month]!.slice(0, 3) : String(month + 1).padStart(token.length, '0');
      return '';
    })
    .replace(/@/g, '')
    .trim();
}
