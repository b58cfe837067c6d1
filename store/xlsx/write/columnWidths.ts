import type { ColumnType } from '../../../core/cells/columnTypes.ts';

/** In characters of the usual font. */
const [narrowest, widest] = [8, 60];
/** Space for the button of the filter, and around the text. */
const [button, margin] = [3, 1];

/** Widths that fit the names and a sample of the values. */
export function fitWidths(columns: { name: string; type: ColumnType }[], sample: (string | null)[][]): number[] {
  return columns.map(({ name, type }, i) => {
    let most = countCells(name) + button;
    for (const text of sample[i] ?? []) if (text !== null) most = Math.max(most, countCells(shownText(type, text)) + margin);
    return Math.min(widest, Math.max(narrowest, most));
  });
}

/** The longest line; a column is not wider than its limit, so the rest of a long text is not looked at. */
function shownText(type: ColumnType, text: string): string {
  if (type.kind !== 'VARCHAR') return text;
  return text.slice(0, widest).split('\n', 1)[0] ?? '';
}

/** East Asian characters are as wide as two others. */
function countCells(text: string): number {
  let cells = text.length;
  for (let i = 0; i < text.length; i += 1) if (isWide(text.charCodeAt(i))) cells += 1;
  return cells;
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff01 && code <= 0xff60)
  );
}
