/** Reading delimited text (csv, tsv). Every cell is a text: what it means is found out elsewhere. */

import { basename, extname } from 'node:path';
import type { RowBatch } from '../../core/grid/batch.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
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

class CsvCells {
  readonly cells = new CellBuffer();
  readonly pool = new StringPool(new StringArena());
  row = 0;
  raggedRows = 0;
  private width = -1;
  private skip: number;

  constructor(
    private readonly file: CsvFile,
    private readonly mostCells: number,
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
      const id = text === undefined ? this.pool.takeBytes(bytes, start, end, hashes[i] ?? 0) : this.pool.takeText(text);
      this.cells.add(this.row, i + 1, CellKind.text, 0, id, 0, -1);
    }
    if (this.cells.size > this.mostCells) throw refuseTooLarge(`The file has more than ${this.mostCells} cells.`, 'Split the file.');
  }
}

export async function readCsv(input: string | Uint8Array, options?: CsvOptions): Promise<CsvResult> {
  const file = await openCsv(input, options);
  try {
    const gathered = new CsvCells(file, file.limits.cellsInMemory);
    await feed(file, gathered).next();
    const { cells, pool } = gathered;
    const name = options?.filename ?? (typeof input === 'string' ? input : 'csv');
    const grid = makeTextGrid(basename(name, extname(name)), cells, pool);
    return { grid, encoding: file.encoding, delimiter: file.delimiter, rows: gathered.row, raggedRows: gathered.raggedRows };
  } finally {
    await file.close();
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
  const gathered = new CsvCells(file, Number.POSITIVE_INFINITY);
  for await (const _ of feed(file, gathered, true)) yield* drain(gathered);
  yield* drain(gathered);
}

/** Reads the whole file; with `pauses`, yields whenever a batch is full. */
async function* feed(file: CsvFile, gathered: CsvCells, pauses = false): AsyncGenerator<void, void, undefined> {
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

function* drain(gathered: CsvCells): Generator<RowBatch, void, undefined> {
  const { cells, pool } = gathered;
  yield* makeBatches(cells, 0, cells.size, pool.strings, []);
  cells.clear();
  pool.reset();
}
