// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every cell costs more than the work itself

import { DomainError } from '../../core/errors.ts';
import type { BatchColumn, RowBatch } from '../../core/grid/batch.ts';
import { formatValue } from '../../core/grid/format/formatCell.ts';
import { CellKind, type CellStyle } from '../../core/grid/grid.ts';
import { type Layer, rowIdColumn } from '../../core/table/table.ts';
import { fieldIds, innerName } from '../../store/duckdb/buildRelation.ts';
import type { IntegerColumn } from '../../store/parquet/columnEncoders.ts';
import { EncodedTexts } from '../../store/parquet/encodedTexts.ts';
import { type GroupColumn, openColumn, type ParquetFile } from '../../store/parquet/parquetFile.ts';
import type { TextColumn } from '../../store/parquet/textColumn.ts';
import type { DraftFiles } from './draftFiles.ts';
import { type Kept, KeptCellsWriter } from './keptCellsWriter.ts';
import { NumberTexts } from './numberTexts.ts';
import type { RawLimits } from './rawLimits.ts';

export interface WrittenSheet {
  /** The last used column. */
  width: number;
  rowCount: number;
  maxRowId: number;
  cells: number;
  layers: Layer[];
  kept: Kept | null;
}

/** Bytes of texts that may still be written for this file. */
export interface TextBudget {
  left: number;
}

/** The rows of the file are not in order, so they cannot be written as they are read. */
export class RowsOutOfOrder extends Error {
  override readonly name = 'RowsOutOfOrder';
}

type SegmentLayer = Extract<Layer, { kind: 'segment' }>;

/** Writes batches of a sheet as segments: texts as shown, sorted by row id. What the texts do not tell is written beside them. */
export class RawSheetWriter {
  private readonly layers: SegmentLayer[] = [];
  private readonly kept: KeptCellsWriter;
  /** By style; and 1 where it leaves texts as they are. */
  private readonly formats: string[];
  private readonly keepsTexts: Uint8Array;
  private readonly texts = new EncodedTexts();
  private readonly numberTexts = new NumberTexts(4096);
  private readonly dateTexts = new NumberTexts(65_536);
  /** The texts of the last batch, and the length of the longest. */
  private longest: { texts: string[]; length: number } = { texts: [], length: 0 };
  private file: ParquetFile | null = null;
  private rowIds: GroupColumn<IntegerColumn> = openRowIds();
  /** By column number; columns without a cell in this group are missing. */
  private columns = new Map<number, GroupColumn<TextColumn>>();
  private groupRows = 0;
  private fileMinRow = 0;
  private fileMaxRow = 0;
  private lastRowId = 0;
  private rowCount = 0;
  private cells = 0;
  private width = 0;

  constructor(
    private readonly files: DraftFiles,
    private readonly place: { prefix: string; rowBase: number },
    styles: CellStyle[],
    private readonly limits: RawLimits,
    private readonly budget: TextBudget,
  ) {
    this.formats = styles.map(({ numberFormat }) => numberFormat);
    this.keepsTexts = Uint8Array.from(this.formats, (format) => (format === 'General' || format === '@' ? 1 : 0));
    this.kept = new KeptCellsWriter(files, limits);
  }

  async add(batch: RowBatch): Promise<void> {
    if (this.rowCount > 0 && this.place.rowBase + batch.rows[0]! <= this.lastRowId) throw new RowsOutOfOrder();
    this.texts.begin(batch.strings);
    await this.addRows(batch, 0, batch.rows.length);
    this.rowCount += batch.rows.length;
  }

  async finish(): Promise<WrittenSheet> {
    await this.flushGroup();
    await this.finishFile();
    const { width, rowCount, lastRowId: maxRowId, cells, layers } = this;
    return { width, rowCount, maxRowId, cells, layers, kept: await this.kept.finish(this.place.prefix) };
  }

  /** Splits the rows into parts that fit into a row group. */
  private async addRows(batch: RowBatch, from: number, to: number): Promise<void> {
    const room = this.limits.groupRows - this.groupRows;
    if (to - from > room) {
      await this.addRows(batch, from, from + room);
      await this.addRows(batch, from + room, to);
      return;
    }
    if (this.estimateBytes(batch, from, to) > this.limits.groupBytes) {
      if (to - from > 1) {
        const middle = (from + to) >> 1;
        await this.addRows(batch, from, middle);
        await this.addRows(batch, middle, to);
        return;
      }
      this.checkRow(batch, from);
    }
    this.takeRows(batch, from, to);
    await this.kept.settle();
    if (this.groupRows >= this.limits.groupRows || this.groupSize() >= this.limits.groupBytes) await this.flushGroup();
  }

  /** Upper bound of the bytes, unless formats add long texts to numbers. */
  private estimateBytes(batch: RowBatch, from: number, to: number): number {
    if (this.longest.texts !== batch.strings) {
      const length = batch.strings.reduce((most, text) => Math.max(most, text.length), 0);
      this.longest = { texts: batch.strings, length };
    }
    const most = 3 * this.longest.length * batch.columns.length * (to - from);
    if (most <= this.limits.groupBytes) return most;
    let letters = 0;
    for (const { texts } of batch.columns) {
      if (!texts) continue;
      for (let i = from; i < to; i += 1) if (texts[i]! >= 0) letters += batch.strings[texts[i]!]!.length;
    }
    return 3 * letters;
  }

  private checkRow(batch: RowBatch, row: number): void {
    let bytes = 0;
    for (const { texts } of batch.columns) if (texts && texts[row]! >= 0) bytes += Buffer.byteLength(batch.strings[texts[row]!]!);
    if (bytes <= this.limits.rowBytes) return;
    throw new DomainError(
      'too-large',
      `The texts of row ${batch.rows[row]} are longer than ${this.limits.rowBytes} bytes.`,
      'Shorten the longest texts of the row.',
    );
  }

  private groupSize(): number {
    let size = this.rowIds.values.size;
    for (const { values } of this.columns.values()) size += values.size;
    return size;
  }

  private takeRows(batch: RowBatch, from: number, to: number): void {
    for (let i = from; i < to; i += 1) this.rowIds.values.add(this.place.rowBase + batch.rows[i]!);
    this.lastRowId = this.place.rowBase + batch.rows[to - 1]!;
    for (const column of batch.columns) this.takeColumn(batch, column, from, to);
    this.groupRows += to - from;
  }

  private takeColumn(batch: RowBatch, source: BatchColumn, from: number, to: number): void {
    const { column, kinds, numbers, texts, styleIds, formulaIds } = source;
    const { formats, keepsTexts } = this;
    const base = this.groupRows - from;
    let first = from;
    while (first < to && kinds[first] === 0) first += 1;
    if (first === to) return;
    const target = this.columnOf(column).values;
    for (let i = first; i < to; i += 1) {
      const kind = kinds[i] as CellKind | 0;
      if (kind === 0) continue;
      this.cells += 1;
      if (kind === CellKind.text && keepsTexts[styleIds[i]!] === 1 && !(formulaIds && formulaIds[i]! >= 0)) {
        this.texts.put(target, base + i, texts![i]!);
        continue;
      }
      const format = formats[styleIds[i]!] ?? 'General';
      const formula = formulaIds && formulaIds[i]! >= 0 ? batch.formulas[formulaIds[i]!] : undefined;
      let stored: string;
      let shown: string;
      let cache: NumberTexts | null = null;
      if (kind === CellKind.text || kind === CellKind.error) {
        const id = texts![i]!;
        stored = batch.strings[id] ?? '';
        shown = formatValue(kind, 0, stored, format);
        if (shown === stored) this.texts.put(target, base + i, id);
        else target.putString(base + i, shown);
      } else {
        const number = numbers![i]!;
        if (kind === CellKind.number && format === 'General' && formula === undefined && number === number >>> 0) {
          target.putWhole(base + i, number);
          continue;
        }
        // Numbers, of which many come once only, would push out the dates.
        cache = kind === CellKind.date ? this.dateTexts : this.numberTexts;
        cache.read(kind, number, styleIds[i]!, format);
        shown = cache.shown;
        stored = cache.stored;
        if (cache.id < 0 || !target.putAgain(base + i, cache, cache.id, cache.size)) target.putString(base + i, shown);
      }
      const differs = shown !== stored;
      if (differs || formula !== undefined) this.kept.add(batch.rows[i]!, column, stored, formula, differs, cache);
    }
  }

  private columnOf(column: number): GroupColumn<TextColumn> {
    let found = this.columns.get(column);
    if (!found) {
      found = openColumn({ fieldId: column, name: innerName(column), type: 'VARCHAR' });
      this.columns.set(column, found);
      if (column > this.width) this.width = column;
    }
    return found;
  }

  private async flushGroup(): Promise<void> {
    if (this.groupRows === 0) return;
    const size = this.groupSize();
    this.spend(size);
    const { limits } = this;
    const isFull =
      this.file !== null &&
      (this.file.rows + this.groupRows > limits.fileRows ||
        this.file.size + size > 0.9 * limits.fileBytes ||
        this.file.chunks + this.columns.size > limits.fileChunks);
    if (isFull) await this.finishFile();
    const { min, max } = this.rowIds.values;
    if (!this.file) {
      this.file = await this.files.create();
      this.fileMinRow = min;
    }
    this.fileMaxRow = max;
    await this.file.writeGroup(this.groupRows, [this.rowIds, ...this.columns.values()]);
    this.rowIds = openRowIds();
    this.columns = new Map();
    this.groupRows = 0;
  }

  private spend(bytes: number): void {
    this.budget.left -= bytes;
    if (this.budget.left >= 0) return;
    throw new DomainError(
      'too-large',
      `The texts of the file, as shown in its cells, are longer than ${this.limits.totalBytes} bytes.`,
      'Split the file.',
    );
  }

  private async finishFile(): Promise<void> {
    const { file } = this;
    if (!file) return;
    this.file = null;
    const { rows } = file;
    const { key, bytes } = await this.files.keep(file, this.place.prefix);
    this.layers.push({ kind: 'segment', key, rows, minRow: this.fileMinRow, maxRow: this.fileMaxRow, bytes });
  }
}

function openRowIds(): GroupColumn<IntegerColumn> {
  return openColumn({ fieldId: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' });
}
