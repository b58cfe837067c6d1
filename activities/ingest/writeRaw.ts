import { basename, extname } from 'node:path';
import { nameColumn } from '../../core/a1/address.ts';
import type { RowBatch } from '../../core/grid/batch.ts';
import { type CellStyle, type Grid, PLAIN_STYLE } from '../../core/grid/grid.ts';
import type { SourceFormat } from '../../core/jobs/sourceJobs.ts';
import type { Layer } from '../../core/table/table.ts';
import type { DraftStore } from '../../store/blobs/blobStore.ts';
import { type CsvEncoding, type Delimiter, openCsv, scanCsvFile } from '../../store/csv/index.ts';
import { WorkbookFile } from '../../store/xlsx/index.ts';
import { makeBatches } from '../../store/xlsx/makeBatches.ts';
import { DraftFiles } from './draftFiles.ts';
import type { Kept } from './keptCellsWriter.ts';
import { type RawLimits, rawLimits } from './rawLimits.ts';
import { RawSheetWriter, RowsOutOfOrder, type TextBudget } from './rawSheetWriter.ts';

export interface RawFile {
  path: string;
  format: SourceFormat;
  filename: string;
  /** For csv and tsv; detected if not given. */
  encoding?: CsvEncoding;
  delimiter?: Delimiter;
}

export interface RawSheet {
  /** Index among the sheets, as passed to `place`. */
  index: number;
  sheet: string;
  /** `A`, `B`, … up to the last used column; a column's id is its position, from 1. */
  columns: { name: string; type: 'VARCHAR' }[];
  rowCount: number;
  /** Row ids are `rowBase` plus the row number in the sheet; blank rows are left out. */
  maxRowId: number;
  /** Cells that are not blank. */
  cells: number;
  layers: Layer[];
  /** Cells whose text is not the whole content, as (row number, column_id, stored, formula); null if there are none. */
  kept: Kept | null;
}

export interface RawResult {
  /** Sheets with at least one cell. */
  sheets: RawSheet[];
  encoding?: CsvEncoding;
  delimiter?: Delimiter;
}

export interface RawWatch {
  /** How much is done, and of how much if that is known: bytes of a text or of the unpacked sheets, rows of records. */
  step(done: number, total: number | null): void;
  signal?: AbortSignal;
}

export type PlaceSheet = (sheetIndex: number, sheet: string) => { prefix: string; rowBase: number };

/** Writes a faithful copy of every sheet of a file to the blob store, as segments. If anything fails, no file remains. */
export async function writeRaw(
  { blobs }: { blobs: DraftStore },
  file: RawFile,
  place: PlaceSheet,
  watch: RawWatch,
  limits: RawLimits = rawLimits,
): Promise<RawResult> {
  const work = new RawWork(blobs, place, watch, limits);
  return work.attempt(() => (file.format === 'xlsx' ? work.writeWorkbook(file) : work.writeText(file)));
}

/** The same for a workbook that has been read into memory. */
export async function writeGrids(
  { blobs }: { blobs: DraftStore },
  grids: CopiedGrid[],
  place: PlaceSheet,
  limits: RawLimits = rawLimits,
): Promise<RawSheet[]> {
  const work = new RawWork(blobs, place, { step() {} }, limits);
  return (await work.attempt(() => work.writeKept(grids))).sheets;
}

/** What is copied of a sheet. */
export type CopiedGrid = Pick<
  Grid,
  'sheet' | 'size' | 'rows' | 'columns' | 'kinds' | 'numbers' | 'texts' | 'strings' | 'formulaIds' | 'formulas' | 'styleIds' | 'styles'
>;

/** The cells of a grid, some rows at a time. */
function* batchRows(grid: CopiedGrid, most: number): Generator<RowBatch> {
  const { rows, size, strings, formulas } = grid;
  let [from, count] = [0, 0];
  for (let i = 1; i < size; i += 1) {
    if (rows[i] === rows[i - 1]) continue;
    count += 1;
    if (count < most) continue;
    yield* makeBatches(grid, from, i, strings, formulas);
    [from, count] = [i, 0];
  }
  yield* makeBatches(grid, from, size, strings, formulas);
}

class RawWork {
  private readonly sets: DraftFiles[] = [];
  private readonly sheets: RawSheet[] = [];
  private readonly budget: TextBudget;
  /** How much of the file has been read. */
  private report: () => void = () => {};

  constructor(
    private readonly blobs: DraftStore,
    private readonly place: PlaceSheet,
    private readonly watch: RawWatch,
    private readonly limits: RawLimits,
  ) {
    this.budget = { left: limits.totalBytes };
  }

  async attempt(write: () => Promise<RawResult>): Promise<RawResult> {
    try {
      return await write();
    } catch (error) {
      // What cannot be removed now is collected later; the first error is the one to report.
      await this.dropAll().catch(() => {});
      throw error;
    }
  }

  async writeKept(grids: CopiedGrid[]): Promise<RawResult> {
    for (const [index, grid] of grids.entries())
      await this.writeSheet(index, grid.sheet, grid.styles, batchRows(grid, this.limits.groupRows));
    return { sheets: this.sheets };
  }

  /** Batch by batch, however large the sheets are. */
  async writeWorkbook({ path }: RawFile): Promise<RawResult> {
    await this.withWorkbook(path, async (workbook) => {
      for (const [index, { name }] of workbook.sheets.entries()) {
        const bytesBefore = this.budget.left;
        try {
          await this.writeSheet(index, name, workbook.styles, workbook.scanSheet(index, { batchRows: this.limits.groupRows }));
        } catch (error) {
          if (!(error instanceof RowsOutOfOrder)) throw error;
          await this.sets.pop()?.dropAll();
          this.budget.left = bytesBefore;
          // Few programs write rows out of order, and only in small sheets, so they are sorted in memory.
          const grid = await workbook.readSheet(index);
          await this.writeSheet(index, name, workbook.styles, makeBatches(grid, 0, grid.size, grid.strings, grid.formulas));
        }
      }
    });
    return { sheets: this.sheets };
  }

  private async withWorkbook(path: string, work: (workbook: WorkbookFile) => Promise<void>): Promise<void> {
    const workbook = await WorkbookFile.open(path, this.readOptions());
    const total = workbook.sheets.reduce((sum, { bytes }) => sum + bytes, 0);
    // What a damaged file says of its size may be wrong, and a sheet may be read twice.
    this.report = () => this.watch.step(Math.min(workbook.scannedBytes, total), total);
    try {
      await work(workbook);
    } finally {
      await workbook.close();
    }
    this.watch.step(total, total);
  }

  async writeText(file: RawFile): Promise<RawResult> {
    const extension = extname(file.filename);
    const csv = await openCsv(file.path, {
      ...this.readOptions(),
      filename: file.format === 'tsv' ? 'file.tsv' : file.filename,
      ...(file.encoding && { encoding: file.encoding }),
      ...(file.delimiter && { delimiter: file.delimiter }),
    });
    this.report = () => this.watch.step(csv.readBytes(), csv.size);
    try {
      await this.writeSheet(0, basename(file.filename, extension), [PLAIN_STYLE], scanCsvFile(csv));
    } finally {
      await csv.close();
    }
    this.watch.step(csv.size, csv.size);
    return { sheets: this.sheets, encoding: csv.encoding, delimiter: csv.delimiter };
  }

  private async dropAll(): Promise<void> {
    for (const set of this.sets) await set.dropAll();
  }

  private readOptions(): { signal?: AbortSignal } {
    return this.watch.signal ? { signal: this.watch.signal } : {};
  }

  private async writeSheet(
    index: number,
    sheet: string,
    styles: CellStyle[],
    batches: AsyncIterable<RowBatch> | Iterable<RowBatch>,
  ): Promise<void> {
    const files = new DraftFiles(this.blobs);
    this.sets.push(files);
    const writer = new RawSheetWriter(files, this.place(index, sheet), styles, this.limits, this.budget);
    for await (const batch of batches) {
      await writer.add(batch);
      this.report();
      this.watch.signal?.throwIfAborted();
    }
    const { width, ...written } = await writer.finish();
    this.watch.signal?.throwIfAborted();
    if (written.cells === 0) return;
    const columns = Array.from({ length: width }, (_, i) => ({ name: nameColumn(i + 1), type: 'VARCHAR' as const }));
    this.sheets.push({ index, sheet, columns, ...written });
  }
}
