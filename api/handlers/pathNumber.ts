import { notFound } from '../../core/errors.ts';

/** A number in a path. Other texts, and numbers that are too large, are not found. */
export function requirePathNumber(text: string, what: string, suggestedFix: string): number {
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw notFound(what, suggestedFix);
}

export const requireRowId = (text: string) => requirePathNumber(text, 'row in this table', 'Read the rows to get their ids.');
export const requireOpId = (text: string) => requirePathNumber(text, 'op in this workbook', 'GET …/ops lists the ops.');
