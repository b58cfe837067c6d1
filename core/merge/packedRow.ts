import { type ByteColumn, holdsText } from '../table/textBatch.ts';
import type { FileCell, FileCellKind } from './fileCell.ts';
import type { FileRow } from './planMerge.ts';

/** A row of a returned file in few objects: the kinds of its cells are letters of one text, capitals where the type cannot hold them. */
export type PackedRow = [place: number, rowId: number | string | null, kinds: string, ...texts: (string | null)[]];

const letters: Record<FileCellKind, string> = { text: 't', number: 'n', boolean: 'b', date: 'd', error: 'e', loose: 'l' };
const kindOf = new Map(Object.entries(letters).map(([kind, letter]) => [letter, kind as FileCellKind]));

export function packRow({ place, rowId, cells }: FileRow): PackedRow {
  let kinds = '';
  for (const cell of cells) {
    const letter = cell ? letters[cell.kind] : '-';
    kinds += cell && !cell.fits ? letter.toUpperCase() : letter;
  }
  return [place, rowId, kinds, ...cells.map((cell) => cell?.text ?? null)];
}

export function unpackRow([place, rowId, kinds, ...texts]: PackedRow): FileRow {
  const cells = texts.map((text, i): FileCell | null => {
    const letter = kinds[i] ?? '-';
    const kind = kindOf.get(letter.toLowerCase());
    return text === null || kind === undefined ? null : { kind, text, fits: letter === letter.toLowerCase() };
  });
  return { place, rowId, cells };
}

/** Whether a row holds exactly what stands in these columns: then nothing in it was edited. */
export function holdsCells(row: PackedRow, columns: readonly (ByteColumn | undefined)[], place: number): boolean {
  for (const [i, column] of columns.entries()) {
    const text = row[i + 3] as string | null;
    if (column ? !holdsText(column, place, text) : text !== null) return false;
  }
  return row[2] === row[2].toLowerCase();
}
