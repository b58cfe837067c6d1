import { isUtf8 } from 'node:buffer';
import type { DomainError } from '../../core/errors.ts';
import { JsonBatch, JsonColumns } from '../../core/records/jsonColumns.ts';
import { type JsonRecord, RecordFault, readJsonRecord } from '../../core/records/jsonRecord.ts';
import type { RecordBatch, RecordColumn } from '../../core/records/records.ts';
import { type ByteSource, openSource } from '../xlsx/byteSource.ts';
import { cutJson } from './cutJson.ts';
import { batchCells, checkColumnCount, checkRowCount, type RecordFile, type RecordLimits, refuseRecords } from './recordFile.ts';

/**
 * Reads the file twice: the types of columns are known only at its end. Only one record at a time and one batch are held in
 * memory.
 */
export async function openJsonRecords(
  path: string,
  format: 'json' | 'ndjson',
  limits: RecordLimits,
  signal?: AbortSignal,
): Promise<RecordFile> {
  const source = await openSource(path);
  try {
    const found = new JsonColumns();
    let rows = 0;
    for await (const record of readRecords(source, format, limits, signal)) {
      found.add(record);
      rows += 1;
      if (found.size > limits.columns) checkColumnCount(found.size, limits);
      checkRowCount(rows, limits);
    }
    const columns = found.list();
    checkColumnCount(columns.length, limits);
    return {
      columns,
      rows,
      batches: () => gather(readRecords(source, format, limits, signal), columns),
      close: () => source.close(),
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function* gather(records: AsyncIterable<JsonRecord & { n: number }>, columns: RecordColumn[]): AsyncGenerator<RecordBatch> {
  let batch = new JsonBatch(columns);
  let length = 0;
  for await (const record of records) {
    explainFault(record.n, () => batch.add(record));
    for (const value of record.values) length += typeof value === 'string' ? value.length : 8;
    if (batch.rows * columns.length < batchCells && length < 8 * batchCells) continue;
    yield batch.finish();
    [batch, length] = [new JsonBatch(columns), 0];
  }
  if (batch.rows > 0) yield batch.finish();
}

async function* readRecords(
  source: ByteSource,
  format: 'json' | 'ndjson',
  limits: RecordLimits,
  signal?: AbortSignal,
): AsyncGenerator<JsonRecord & { n: number }> {
  let n = 0;
  for await (const bytes of cutJson(source, format, limits.rowBytes, signal)) {
    n += 1;
    if (!isUtf8(bytes)) throw refuseRecord(n, 'is not valid UTF-8');
    yield { n, ...explainFault(n, () => readJsonRecord(bytes.toString('utf8'))) };
  }
}

function explainFault<T>(n: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof RecordFault ? refuseRecord(n, error.message, error) : error;
  }
}

function refuseRecord(n: number, why: string, cause?: unknown): DomainError {
  return refuseRecords(`Record ${n} ${why}.`, 'Correct the record, and send the file again.', cause);
}
