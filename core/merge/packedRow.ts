import type { FileCell, FileCellKind } from './fileCell.ts';
import type { FileEdit, FileRow } from './planMerge.ts';

/** A row that a returned file changed, added or left out, with what it was in the export. */
export interface ReturnedRow {
  rowId: number | string | null;
  /** Null: the file does not have it. */
  file: FileRow | null;
  /** Canonical texts of the columns of the export. Null: the export does not have it. */
  base: (string | null)[] | null;
}

/**
 * The same in few objects. `kinds` has a letter for each column of the file: a dot where nothing was edited, a dash for a cell that
 * was cleared, capitals where the type cannot hold the value. `texts` are those of the letters.
 */
export type PackedRow = [
  rowId: ReturnedRow['rowId'],
  base: ReturnedRow['base'],
  place: number | null,
  twin: number | null,
  kinds: string,
  ...texts: string[],
];

const letters: Record<FileCellKind, string> = { text: 't', number: 'n', boolean: 'b', date: 'd', error: 'e', loose: 'l' };
const kindOf = new Map(Object.entries(letters).map(([kind, letter]) => [letter, kind as FileCellKind]));

export function packRow({ rowId, base, file }: ReturnedRow): PackedRow {
  let kinds = '';
  const texts: string[] = [];
  for (const { column, cell } of file?.edits ?? []) {
    kinds = kinds.padEnd(column, '.');
    if (cell === null) kinds += '-';
    else {
      kinds += cell.fits ? letters[cell.kind] : letters[cell.kind].toUpperCase();
      texts.push(cell.text);
    }
  }
  return [rowId, base, file?.place ?? null, file?.twin ?? null, kinds, ...texts];
}

export function unpackRow([rowId, base, place, twin, kinds, ...texts]: PackedRow): ReturnedRow {
  if (place === null) return { rowId, base, file: null };
  const edits: FileEdit[] = [];
  let next = 0;
  for (const [column, letter] of [...kinds].entries()) {
    if (letter === '.') continue;
    const kind = kindOf.get(letter.toLowerCase());
    const cell: FileCell | null = kind ? { kind, text: texts[next++] ?? '', fits: letter === letter.toLowerCase() } : null;
    edits.push({ column, cell });
  }
  return { rowId, base, file: { place, rowId, edits, ...(twin === null ? {} : { twin }) } };
}
