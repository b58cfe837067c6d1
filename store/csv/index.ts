/** Reading delimited text (csv, tsv). Every cell is a text: what it means is found out elsewhere. */

import { basename, extname } from 'node:path';
import type { RowBatch } from '../../core/grid/batch.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
import type { ByteColumn } from '../../core/table/textBatch.ts';
import { CellBuffer } from '../xlsx/cellBuffer.ts';
import { refuseTooLarge } from '../xlsx/fileRefusals.ts';
import { makeBatches } from '../xlsx/makeBatches.ts';
import { StringArena } from '../xlsx/stringArena.ts';
import { StringPool } from '../xlsx/stringPool.ts';
import { CsvParser, type CsvRow } from './csvParser.ts';
import type { Delimiter } from './detectDelimiter.ts';
import type { CsvEncoding } from './detectEncoding.ts';
import { type CsvFile, type CsvOptions, openCsv } from './openCsv.ts';
import { makeTextGrid } from './textGrid.ts';

export type { Delimiter } from './detectDelimiter.ts';
export type { CsvEncoding } from './detectEncoding.ts';
export { type CsvOptions, openCsv } from './openCsv.ts';

interface CsvResult {
  grid: Grid;
  encoding: CsvEncoding;
  delimiter: Delimiter;
  /** Rows, blank ones included, and those whose number of fields differs from the first row's. */
  rows: number;
  raggedRows: number;
}

const BATCH_CELLS = 262_144;
const BATCH_ROWS = 8192;

/** Where the texts of the cells go; `hash` is that of the bytes. */
interface TextKeeper {
  takeBytes(bytes: Buffer, start: number, end: number, hash: number): number;
  takeText(text: string): number;
}

class CsvCells<Texts extends TextKeeper> {
  readonly cells = new CellBuffer();
  row = 0;
  raggedRows = 0;
  private width = -1;
  private skip: number;

  constructor(
    private readonly file: CsvFile,
    private readonly mostCells: number,
    readonly texts: Texts,
  ) {
    this.skip = file.skipRows;
  }

  addRow({ bytes, fields, starts, ends, hashes, decoded }: CsvRow): void {
    if (this.skip > 0) {
      this.skip -= 1;
      return;
    }
    const { limits } = this.file;
    this.row += 1;
    if (this.row > limits.rows) throw refuseTooLarge(`The file has more than ${limits.rows} rows.`, 'Split the file.');
    if (fields > limits.columns) {
      throw refuseTooLarge(`Row ${this.row} has more than ${limits.columns} fields.`, 'Check the delimiter, or split the file.');
    }
    const isBlank = fields === 1 && starts[0] === ends[0];
    if (this.width < 0 && !isBlank) this.width = fields;
    if (!isBlank && fields !== this.width) this.raggedRows += 1;
    for (let i = 0; i < fields; i += 1) {
      const [start, end] = [starts[i] ?? 0, ends[i] ?? 0];
      const text = decoded.size > 0 ? decoded.get(i) : undefined;
      if (text === '' || (text === undefined && start === end)) continue;
      const id = text === undefined ? this.texts.takeBytes(bytes, start, end, hashes[i] ?? 0) : this.texts.takeText(text);
      this.cells.add(this.row, i + 1, CellKind.text, 0, id, 0, -1);
    }
    if (this.cells.size > this.mostCells) throw refuseTooLarge(`The file has more than ${this.mostCells} cells.`, 'Split the file.');
  }
}

export async function readCsv(input: string | Uint8Array, options?: CsvOptions): Promise<CsvResult> {
  const file = await openCsv(input, options);
  try {
    const gathered = new CsvCells(file, file.limits.cellsInMemory, makePool());
    await feed(file, gathered).next();
    const grid = makeTextGrid(nameSheet(input, options), gathered.cells, gathered.texts);
    return { grid, encoding: file.encoding, delimiter: file.delimiter, rows: gathered.row, raggedRows: gathered.raggedRows };
  } finally {
    await file.close();
  }
}

const makePool = () => new StringPool(new StringArena());

function nameSheet(input: string | Uint8Array, options?: CsvOptions): string {
  const name = options?.filename ?? (typeof input === 'string' ? input : 'csv');
  return basename(name, extname(name));
}

/** The cells of a text file with their texts as bytes, in the order of the cells: a string for each would cost more than the reading. */
export interface CsvBytes extends Pick<Grid, 'sheet' | 'size' | 'rows' | 'columns'> {
  texts: ByteColumn;
}

export async function readCsvBytes(input: string | Uint8Array, options?: CsvOptions): Promise<CsvBytes> {
  const file = await openCsv(input, options);
  try {
    const gathered = new CsvCells(file, file.limits.cellsInMemory, new PlainTexts());
    await feed(file, gathered).next();
    const { size, rows, columns } = gathered.cells;
    return { sheet: nameSheet(input, options), size, rows, columns, texts: gathered.texts.arena.toColumn() };
  } finally {
    await file.close();
  }
}

class PlainTexts implements TextKeeper {
  readonly arena = new StringArena();

  takeBytes(bytes: Buffer, start: number, end: number): number {
    this.arena.append(bytes, start, end);
    return this.arena.finish();
  }

  takeText(text: string): number {
    this.arena.appendString(text);
    return this.arena.finish();
  }
}

/** The same in batches of rows, with bounded memory. */
export async function* scanCsv(input: string | Uint8Array, options?: CsvOptions): AsyncGenerator<RowBatch, void, undefined> {
  const file = await openCsv(input, options);
  try {
    yield* scanCsvFile(file);
  } finally {
    await file.close();
  }
}

/** Of a file that is open: its encoding and delimiter are known already. */
export async function* scanCsvFile(file: CsvFile): AsyncGenerator<RowBatch, void, undefined> {
  const gathered = new CsvCells(file, Number.POSITIVE_INFINITY, makePool());
  for await (const _ of feed(file, gathered, true)) yield* drain(gathered);
  yield* drain(gathered);
}

/** Reads the whole file; with `pauses`, yields whenever a batch is full. */
async function* feed(file: CsvFile, gathered: CsvCells<TextKeeper>, pauses = false): AsyncGenerator<void, void, undefined> {
  const parser = new CsvParser(file.delimiter, (row) => gathered.addRow(row), file.limits.elementBytes);
  let firstRow = 0;
  for await (const chunk of file.chunks()) {
    parser.push(chunk, false);
    if (pauses && (gathered.cells.size >= BATCH_CELLS || gathered.row - firstRow >= BATCH_ROWS)) {
      firstRow = gathered.row;
      yield;
    }
  }
  parser.push(Buffer.alloc(0), true);
}

function* drain({ cells, texts }: CsvCells<StringPool>): Generator<RowBatch, void, undefined> {
  yield* makeBatches(cells, 0, cells.size, texts.strings, []);
  cells.clear();
  texts.reset();
}
