import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { DomainError } from '../../core/errors.ts';
import type { RecordBatch } from '../../core/records/records.ts';
import { type Layer, rowIdColumn } from '../../core/table/table.ts';
import type { DraftStore } from '../../store/blobs/blobStore.ts';
import { fieldIds, innerName } from '../../store/duckdb/buildRelation.ts';
import type { IntegerColumn } from '../../store/parquet/columnEncoders.ts';
import { type GroupColumn, openColumn, type ParquetFile } from '../../store/parquet/parquetFile.ts';
import { storeType, type ValueColumn } from '../../store/parquet/storedTypes.ts';
import { DraftFiles } from './draftFiles.ts';
import { type RawLimits, rawLimits } from './rawLimits.ts';
import type { RawWatch } from './writeRaw.ts';

/** Where the rows go: row ids follow `lastRowId`. */
export interface RecordTarget {
  prefix: string;
  lastRowId: number;
  columns: { id: number; type: string }[];
}

export interface WrittenRecords {
  rows: number;
  layers: Layer[];
}

/** Writes records to the blob store as segments, with the types of their columns. If anything fails, no file remains. */
export async function writeRecords(
  { blobs }: { blobs: DraftStore },
  batches: AsyncIterable<RecordBatch>,
  target: RecordTarget,
  total: number | null,
  watch: RawWatch,
  limits: RawLimits = rawLimits,
): Promise<WrittenRecords> {
  const files = new DraftFiles(blobs);
  try {
    const writer = new SegmentWriter(files, target, limits);
    let rows = 0;
    for await (const batch of batches) {
      await writer.add(batch);
      rows += batch.rows;
      watch.step(rows, total);
      watch.signal?.throwIfAborted();
    }
    watch.step(rows, rows);
    return { rows, layers: await writer.finish() };
  } catch (error) {
    // What cannot be removed now is collected later; the first error is the one to report.
    await files.dropAll().catch(() => {});
    throw error;
  }
}

class SegmentWriter {
  private readonly layers: Layer[] = [];
  private readonly stored;
  private file: ParquetFile | null = null;
  private rowIds!: GroupColumn<IntegerColumn>;
  private columns!: GroupColumn<ValueColumn>[];
  private groupRows = 0;
  private lastRowId: number;
  private fileMinRow = 0;
  private left: number;

  constructor(
    private readonly files: DraftFiles,
    private readonly target: RecordTarget,
    private readonly limits: RawLimits,
  ) {
    this.lastRowId = target.lastRowId;
    this.left = limits.totalBytes;
    this.stored = target.columns.map(({ id, type }) => ({ id, type: storeType(parseColumnType(type) as ColumnType) }));
    this.openGroup();
  }

  async add(batch: RecordBatch): Promise<void> {
    for (let from = 0; from < batch.rows; ) {
      const to = Math.min(batch.rows, from + this.limits.groupRows - this.groupRows);
      this.takeRows(batch, from, to);
      from = to;
      if (this.groupRows >= this.limits.groupRows || this.groupSize() >= this.limits.groupBytes) await this.flushGroup();
    }
  }

  async finish(): Promise<Layer[]> {
    await this.flushGroup();
    await this.finishFile();
    return this.layers;
  }

  private takeRows(batch: RecordBatch, from: number, to: number): void {
    for (let i = from; i < to; i += 1) {
      this.lastRowId += 1;
      this.rowIds.values.add(this.lastRowId);
    }
    const base = this.groupRows - from;
    this.columns.forEach(({ values }, k) => {
      const texts = batch.columns[k] ?? [];
      for (let i = from; i < to; i += 1) {
        const text = texts[i];
        if (text != null) values.putString(base + i, text);
      }
    });
    this.groupRows += to - from;
  }

  private groupSize(): number {
    return this.columns.reduce((sum, { values }) => sum + values.size, this.rowIds.values.size);
  }

  private openGroup(): void {
    this.rowIds = openColumn({ fieldId: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' });
    this.columns = this.stored.map(({ id, type }) => openColumn({ fieldId: id, name: innerName(id), type }));
    this.groupRows = 0;
  }

  private async flushGroup(): Promise<void> {
    if (this.groupRows === 0) return;
    const size = this.groupSize();
    this.spend(size);
    const { limits, file } = this;
    const isFull =
      file !== null &&
      (file.rows + this.groupRows > limits.fileRows ||
        file.size + size > 0.9 * limits.fileBytes ||
        file.chunks + this.columns.length > limits.fileChunks);
    if (isFull) await this.finishFile();
    if (!this.file) {
      this.file = await this.files.create();
      this.fileMinRow = this.rowIds.values.min;
    }
    await this.file.writeGroup(this.groupRows, [this.rowIds, ...this.columns]);
    this.openGroup();
  }

  private spend(bytes: number): void {
    this.left -= bytes;
    if (this.left < 0)
      throw new DomainError('too-large', `The values of the file take more than ${this.limits.totalBytes} bytes.`, 'Split the file.');
  }

  private async finishFile(): Promise<void> {
    const { file } = this;
    if (!file) return;
    this.file = null;
    const { rows } = file;
    const { key, bytes } = await this.files.keep(file, this.target.prefix);
    this.layers.push({ kind: 'segment', key, rows, minRow: this.fileMinRow, maxRow: this.fileMinRow + rows - 1, bytes });
  }
}
