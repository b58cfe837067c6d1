/** Which sheets were made from one template, so that a rule fitted to one of them is not scored on another. */

import { createHash } from 'node:crypto';

export interface SheetTexts {
  book: string;
  sheet: string;
  texts: Set<string>;
}

/** Parts that take turns: what is chosen on all others is scored on one. */
export const PARTS = 5;

/** Texts that sheets of one template have in common, of those of the smaller one. */
const SHARED_TEXTS = 0.5;

/** Fewer texts may be the same by chance. */
const MIN_TEXTS = 5;

/** The part of each sheet: sheets of one book, and sheets that share half of their texts, go together. */
export function assignParts(sheets: SheetTexts[]): number[] {
  // The first sheet of each template stands for all of them.
  const first = new Map<SheetTexts, SheetTexts>();
  const find = (sheet: SheetTexts): SheetTexts => {
    let top = sheet;
    for (let next = first.get(top); next; next = first.get(top)) top = next;
    return top;
  };
  sheets.forEach((one, k) => {
    for (const other of sheets.slice(k + 1)) {
      const [a, b] = [find(one), find(other)];
      if (a !== b && areAlike(one, other)) first.set(b, a);
    }
  });
  return sheets.map((own) => {
    const { book, sheet } = find(own);
    return createHash('sha1').update(`${book}\n${sheet}`).digest().readUInt32BE(0) % PARTS;
  });
}

function areAlike(a: SheetTexts, b: SheetTexts): boolean {
  if (a.book === b.book) return true;
  const [few, many] = a.texts.size < b.texts.size ? [a.texts, b.texts] : [b.texts, a.texts];
  if (few.size < MIN_TEXTS) return false;
  let shared = 0;
  for (const text of few) if (many.has(text)) shared += 1;
  return shared >= few.size * SHARED_TEXTS;
}
