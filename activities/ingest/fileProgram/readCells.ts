import { basename, extname } from 'node:path';
import { nameCell } from '../../../core/a1/address.ts';
import type { RowBatch } from '../../../core/grid/batch.ts';
import { formatValue } from '../../../core/grid/format/formatCell.ts';
import { CellKind, type CellStyle } from '../../../core/grid/grid.ts';
import { scanCsv } from '../../../store/csv/index.ts';
import { WorkbookFile } from '../../../store/xlsx/index.ts';
import { noSheet } from './noSheet.ts';
import type { FileInput } from './requests.ts';

export type Shown = string | number | boolean;

export interface ShownCell {
  row: number;
  column: number;
  value: Shown;
}

/** A spreadsheet whose cells are read as the sheets show them, row by row, with bounded memory. */
export interface OpenSheets {
  sheets: string[];
  read(sheet: string): AsyncGenerator<ShownCell, void, undefined>;
  close(): Promise<void>;
}

/** A text file has one sheet, named like the file. */
export async function openSheets({ path, format, filename }: FileInput): Promise<OpenSheets> {
  if (format !== 'xlsx')
    return {
      sheets: [basename(filename, extname(filename))],
      read: () => listShown(scanCsv(path, { filename }), []),
      close: async () => {},
    };
  const file = await WorkbookFile.open(path);
  return {
    sheets: file.sheets.map(({ name }) => name),
    read: (sheet) => listShown(file.scanSheet(sheet, { formulas: false, batchRows: 1024 }), file.styles),
    close: () => file.close(),
  };
}

async function* listShown(batches: AsyncIterable<RowBatch>, styles: CellStyle[]): AsyncGenerator<ShownCell, void, undefined> {
  for await (const batch of batches)
    for (let i = 0; i < batch.rows.length; i += 1)
      for (const { column, kinds, numbers, texts, styleIds } of batch.columns) {
        const kind = kinds[i] as CellKind | 0;
        if (kind === 0) continue;
        const number = numbers?.[i] ?? 0;
        const text = batch.strings[texts?.[i] ?? -1] ?? '';
        const value = asShown(kind, number, formatValue(kind, number, text, styles[styleIds[i] ?? 0]?.numberFormat ?? 'General'));
        if (value !== '') yield { row: batch.rows[i] ?? 0, column, value };
      }
}

/** Returns a number if nothing is lost by showing it as one. */
export function asShown(kind: CellKind, number: number, shown: string): Shown {
  if (kind === CellKind.boolean) return number !== 0;
  return kind === CellKind.number && String(number) === shown ? number : shown;
}

export interface CellPage {
  sheet: string;
  sheets: string[];
  cells: { cell: string; value: Shown }[];
  /** The last cell, if more follow. */
  last: [row: number, column: number] | null;
}

/** A page of texts is cut short where it gets this long. */
const mostCharacters = 8 * 1024 * 1024;

/** Cells of a sheet, the first one unless it is named, that come behind another one. */
export async function readCells(
  input: FileInput,
  wanted: { sheet: string | null; after: [row: number, column: number] | null; limit: number },
): Promise<CellPage> {
  const file = await openSheets(input);
  try {
    const sheet = wanted.sheet ?? file.sheets[0] ?? '';
    if (!file.sheets.includes(sheet)) throw noSheet(sheet, file.sheets);
    const [afterRow, afterColumn] = wanted.after ?? [0, 0];
    const page: CellPage = { sheet, sheets: file.sheets, cells: [], last: null };
    let last: CellPage['last'] = null;
    let characters = 0;
    for await (const { row, column, value } of file.read(sheet)) {
      if (row < afterRow || (row === afterRow && column <= afterColumn)) continue;
      if (page.cells.length >= wanted.limit || characters > mostCharacters) return { ...page, last };
      page.cells.push({ cell: nameCell(row, column), value });
      characters += String(value).length;
      last = [row, column];
    }
    return page;
  } finally {
    await file.close();
  }
}
