import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type ColumnType, parseColumnType } from '../../../core/cells/columnTypes.ts';
import { CellKind, type Grid, PLAIN_STYLE } from '../../../core/grid/grid.ts';
import { readFileCell, takeGuardOff } from '../../../core/merge/fileCell.ts';
import { packRow } from '../../../core/merge/packedRow.ts';
import type { CellValue } from '../../../core/types/infer.ts';
import type { DraftStore } from '../../../store/blobs/blobStore.ts';
import { findSheetMark } from '../../../store/xlsx/branchMarks.ts';
import { WorkbookFile } from '../../../store/xlsx/index.ts';
import { readGrids } from './readInput.ts';
import type { FileInput, ReturnedSheet, WantedSheet } from './requests.ts';

/** A file that comes back, with its sheets in memory. */
export interface ReturnedFile {
  branchId: string | null;
  grids: Grid[];
  isLoose: boolean;
}

export async function openReturned(input: FileInput): Promise<ReturnedFile> {
  const { grids } = await readGrids(input);
  const isLoose = input.format !== 'xlsx';
  if (isLoose) return { branchId: null, grids, isLoose };
  const book = await WorkbookFile.open(input.path);
  try {
    return { branchId: await book.findBranch(), grids, isLoose };
  } finally {
    await book.close();
  }
}

/** The first row is the header. */
export function describeReturned({ grids, isLoose }: ReturnedFile): ReturnedSheet[] {
  return grids.map((grid) => {
    const header: (string | null)[] = [];
    for (let i = 0; i < grid.size && grid.rows[i] === 1; i += 1) {
      const place = (grid.columns[i] ?? 1) - 1;
      while (header.length < place) header.push(null);
      const name = showHeader(readValue(grid, i));
      header.push(isLoose ? takeGuardOff(name) : name);
    }
    const below = grid.merges.find(({ top, bottom }) => bottom > 1 || top > 1);
    return { name: grid.sheet, tableId: findSheetMark(grid.names)?.tableId ?? null, header, rows: countRows(grid), merged: below ?? null };
  });
}

function countRows({ rows, size }: Grid): number {
  let count = 0;
  for (let i = 0; i < size; i += 1) if (rows[i] !== rows[i - 1] && rows[i] !== 1) count += 1;
  return count;
}

function showHeader(value: CellValue): string {
  if (value.kind === 'number') return String(value.number);
  if (value.kind === 'boolean') return String(value.boolean).toUpperCase();
  return value.kind === 'date' ? value.iso : value.text;
}

const firstDay = Date.UTC(1900, 0, 1);

function readValue(grid: Grid, i: number): CellValue {
  const number = grid.numbers[i] ?? 0;
  const text = grid.strings[grid.texts[i] ?? -1] ?? '';
  switch (grid.kinds[i]) {
    case CellKind.number:
      return { kind: 'number', number, numberFormat: (grid.styles[grid.styleIds[i] ?? 0] ?? PLAIN_STYLE).numberFormat };
    case CellKind.boolean:
      return { kind: 'boolean', boolean: number === 1 };
    case CellKind.date: {
      const iso = new Date(number).toISOString().slice(0, 19);
      const timeOnly = number < firstDay;
      return { kind: 'date', iso, hasTime: !timeOnly && !iso.endsWith('T00:00:00'), timeOnly };
    }
    case CellKind.error:
      return { kind: 'error', text };
    default:
      return { kind: 'text', text };
  }
}

/** Characters per write. */
const writtenLength = 262_144;

/** Writes the rows of a sheet, read for the columns of its table, as lines of JSON; returns the name of the file. */
export async function writeReturned(blobs: DraftStore, file: ReturnedFile, wanted: WantedSheet): Promise<string> {
  const grid = file.grids[wanted.sheet];
  if (!grid) throw new Error(`there is no sheet ${wanted.sheet}`);
  const places = new Map(wanted.columns.map(({ place }, i) => [place, i]));
  const types = wanted.columns.map(({ type }) => parseColumnType(type) as ColumnType);
  function* lines() {
    let text = '';
    for (const row of eachRow(grid as Grid)) {
      const cells = types.map((): ReturnType<typeof readFileCell> => null);
      let rowId: number | string | null = null;
      for (let i = row.from; i < row.to; i += 1) {
        const place = (grid?.columns[i] ?? 1) - 1;
        const value = readValue(grid as Grid, i);
        if (place === wanted.rowId) rowId = readRowId(value);
        const at = places.get(place);
        if (at !== undefined) cells[at] = readFileCell(types[at] as ColumnType, value, file.isLoose);
      }
      text += `${JSON.stringify(packRow({ place: row.row, rowId, cells }))}\n`;
      if (text.length < writtenLength) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
  const draft = await blobs.draft();
  await pipeline(lines, createWriteStream(draft));
  return (await blobs.put('', draft, 'json')).key;
}

/** The rows below the header, with where their cells are. */
function* eachRow(grid: Grid): Generator<{ row: number; from: number; to: number }> {
  let from = 0;
  while (from < grid.size) {
    const row = grid.rows[from] as number;
    let to = from + 1;
    while (to < grid.size && grid.rows[to] === row) to += 1;
    if (row > 1) yield { row, from, to };
    from = to;
  }
}

function readRowId(value: CellValue): number | string | null {
  const text = showHeader(value).trim();
  if (text === '') return null;
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text.slice(0, 40);
}
