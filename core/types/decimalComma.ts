/** Which of point and comma separates decimals: found out for a whole column, because `1.234` alone could be either. */

/** `1.234,50`, `1.234.567`, `12,5`, `0,125`, `1234,567`: a comma before decimals, points between thousands. `1,2` may be a list. */
const COMMA_ONLY =
  /^(?:[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}|\d{2,},\d|\d+,(?:\d{2}|\d{4,})|(?:0\d*|[1-9]\d{3,}),\d{3})$/;
const POINT_ONLY = /^(?:[1-9]\d{0,2}(?:,\d{3})+\.\d+|[1-9]\d{0,2}(?:,\d{3}){2,}|\d*\.(?:\d{1,2}|\d{4,})|(?:0\d*|[1-9]\d{3,})?\.\d{3})$/;
const EITHER = /^[1-9]\d{0,2}[.,]\d{3}$/;

/** `open`: every value with a separator could be read either way. */
export type DecimalMark = 'comma' | 'point' | 'open' | null;

/** Null when no value has a separator, or when values disagree. */
export function detectDecimalMark(texts: Iterable<string>): DecimalMark {
  let [comma, point, open] = [false, false, false];
  for (const text of texts) {
    const figure = /\d[\d.,]*\d|[.,]\d+/.exec(text.normalize('NFKC').replace(/(?<=\d)\s(?=\d{3}(?!\d))/g, ''))?.[0] ?? '';
    if (COMMA_ONLY.test(figure)) comma = true;
    else if (POINT_ONLY.test(figure)) point = true;
    else if (EITHER.test(figure)) open = true;
  }
  if (comma === point) return open && !comma ? 'open' : null;
  return comma ? 'comma' : 'point';
}

/** Writes `1.234,50` as `1,234.50`, and the other way round. */
export function swapMarks(text: string): string {
  return text.replace(/[.,]/g, (mark) => (mark === '.' ? ',' : '.'));
}
