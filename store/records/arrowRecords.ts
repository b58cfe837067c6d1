import { type FileHandle, open } from 'node:fs/promises';
import { RecordBatchReader, type RecordBatch as Rows, type Vector } from 'apache-arrow';
import { DomainError } from '../../core/errors.ts';
import type { RecordBatch, RecordColumn } from '../../core/records/records.ts';
import { withUnpacking } from './arrowCodecs.ts';
import { type ArrowColumn, ArrowFault, describeField } from './arrowTypes.ts';
import {
  batchCells,
  checkColumnCount,
  checkRowCount,
  type RecordFile,
  type RecordLimits,
  refuseLarge,
  refuseRecords,
} from './recordFile.ts';

/** Reads Arrow's stream and file formats, one of its batches at a time. */
export async function openArrowRecords(path: string, limits: RecordLimits, signal?: AbortSignal): Promise<RecordFile> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const left = { left: Math.max(limits.ratioFromBytes, Math.min(limits.totalBytes, limits.ratio * size)) };
    const reader = await explain(() => withUnpacking(left, async () => (await RecordBatchReader.from(handle)).open()));
    const fields = reader.schema?.fields ?? [];
    checkColumnCount(fields.length, limits);
    const described = fields.map(describeField);
    const columns = fields.map(({ name }, k): RecordColumn => ({ name, type: described[k]?.type ?? 'VARCHAR' }));
    return {
      columns,
      rows: null,
      batches: () => readBatches(reader as unknown as Reader, columns, described, left, limits, signal),
      close: () => closeQuietly(handle),
    };
  } catch (error) {
    await closeQuietly(handle);
    throw error;
  }
}

type Reader = AsyncIterator<Rows> & { [Symbol.asyncIterator](): AsyncIterator<Rows> };

/** The reader closes the file itself when it comes to its end. */
async function closeQuietly(handle: FileHandle): Promise<void> {
  await handle.close().catch(() => {});
}

async function* readBatches(
  reader: Reader,
  columns: RecordColumn[],
  described: ArrowColumn[],
  left: { left: number },
  limits: RecordLimits,
  signal?: AbortSignal,
): AsyncGenerator<RecordBatch> {
  let before = 0;
  // A dictionary can stand for far more text than the file holds.
  const texts = { left: limits.totalBytes };
  for (;;) {
    const next = await explain(() => withUnpacking(left, async () => reader.next()));
    if (next.done) return;
    const rows = next.value;
    checkRowCount(before + rows.numRows, limits);
    const step = Math.max(1, Math.floor(batchCells / columns.length));
    for (let from = 0; from < rows.numRows; from += step) {
      signal?.throwIfAborted();
      const to = Math.min(rows.numRows, from + step);
      yield {
        rows: to - from,
        columns: described.map((column, k) => readColumn(rows.getChildAt(k), column, columns[k]?.name ?? '', from, to, before, texts)),
      };
    }
    before += rows.numRows;
  }
}

function readColumn(
  vector: Vector | null,
  column: ArrowColumn,
  name: string,
  from: number,
  to: number,
  before: number,
  texts: { left: number },
): (string | null)[] {
  if (vector?.data.length !== 1) throw damaged();
  const values = new Array<string | null>(to - from);
  for (let i = from; i < to; i += 1) {
    try {
      const text = vector.isValid(i) ? column.read(vector, i) : null;
      texts.left -= text?.length ?? 4;
      if (texts.left < 0) throw refuseLarge('The values come to more text than one file may hold.');
      values[i - from] = text;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      if (!(error instanceof ArrowFault)) throw damaged(error);
      const where = `Record ${before + i + 1}, column ${JSON.stringify(name.slice(0, 100))}`;
      throw refuseRecords(`${where}: the value ${error.message}.`, 'Correct the value, and send the file again.', error);
    }
  }
  return values;
}

function damaged(cause?: unknown): DomainError {
  return refuseRecords('The Arrow file is damaged, cut off, or of a kind that is not read.', 'Write it again, and send that.', cause);
}

/** Arrow's own errors say little, and only to programmers. */
async function explain<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DomainError ? error : damaged(error);
  }
}
