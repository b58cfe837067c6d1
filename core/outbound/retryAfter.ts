/** What `Retry-After` asks for: seconds, or a date. Null: nothing that can be understood. */
export function readRetryAfter(value: string | undefined, at: Date): number | null {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Every form of date that HTTP knows begins with the name of a day.
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - at.getTime());
}
