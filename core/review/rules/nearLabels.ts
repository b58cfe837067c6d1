import type { Draft } from '../finding.ts';
import type { Reviewed } from '../region.ts';

/** Distinct texts that are compared; a column of more is prose or keys. */
const mostTexts = 5_000;
/** Shorter names differ by a letter and mean different things. */
const leastLength = 6;

/** Names that differ only in width, case, blanks or marks; and names one letter away from one that comes often. */
export function findNearLabels({ region, summaries }: Reviewed): Draft[] {
  return region.columns.flatMap((column, k): Draft[] => {
    if (summaries[k]?.kind !== 'text') return [];
    const counts = new Map<string, { rows: number; row: number }>();
    column.values.forEach((value, row) => {
      if (typeof value !== 'string' || value.length > 80) return;
      const seen = counts.get(value);
      if (seen) seen.rows += 1;
      else counts.set(value, { rows: 1, row });
    });
    if (counts.size < 2 || counts.size > mostTexts) return [];
    // Names that never come again are names of rows: there a likeness means nothing.
    const repeats = [...counts.values()].some(({ rows }) => rows > 1);
    const drafts: Draft[] = [];
    const byPlain = new Map<string, string>();
    for (const text of counts.keys()) {
      const plain = simplify(text);
      const other = byPlain.get(plain);
      if (plain === '') continue;
      if (other === undefined) byPlain.set(plain, text);
      else drafts.push(describe(column.name, k, [other, text], counts));
    }
    if (!repeats) return drafts;
    const often = [...byPlain].filter(([, text]) => (counts.get(text)?.rows ?? 0) >= 5);
    const nearOften = new Map(often.flatMap(([plain, text]) => listNeighbours(plain).map((key) => [key, text] as const)));
    for (const [plain, text] of byPlain) {
      if ((counts.get(text)?.rows ?? 0) > 1 || plain.length < leastLength) continue;
      const other = listNeighbours(plain)
        .map((key) => nearOften.get(key))
        .find((each) => each !== undefined && each !== text);
      if (other !== undefined && !differInDigits(plain, simplify(other))) drafts.push(describe(column.name, k, [other, text], counts));
    }
    return drafts;
  });
}

function describe(name: string, column: number, [a, b]: [string, string], counts: Map<string, { rows: number; row: number }>): Draft {
  const [first, second] = [counts.get(a), counts.get(b)];
  return {
    severity: 'warning',
    message: `${name}: ${JSON.stringify(a)} (${first?.rows ?? 0} rows) and ${JSON.stringify(b)} (${second?.rows ?? 0}) may be the same.`,
    spots: [
      { row: second?.row ?? 0, column },
      { row: first?.row ?? 0, column },
    ],
    suggestedFix: 'Write the same name the same way.',
  };
}

function simplify(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/株式会社|有限会社|\(株\)|\(有\)|[\s\p{P}\p{S}]/gu, '');
}

/** The text with each one of its letters left out: two texts that share one are a letter apart, or two. */
function listNeighbours(plain: string): string[] {
  if (plain.length < leastLength || plain.length > 40) return [];
  return [plain, ...Array.from({ length: plain.length }, (_, k) => plain.slice(0, k) + plain.slice(k + 1))];
}

/** `2023年` and `2024年`, `A-1` and `A-2` are meant to differ. */
function differInDigits(a: string, b: string): boolean {
  return a.replace(/\D/g, '') !== b.replace(/\D/g, '');
}
