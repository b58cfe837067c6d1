import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { RecordBatch } from '../../core/records/records.ts';
import { batchCells } from './recordFile.ts';

/** Reads records that were written as texts, a line of JSON for each. */
export async function* readRecordLines(path: string, width: number, signal?: AbortSignal): AsyncGenerator<RecordBatch> {
  const step = Math.max(1, Math.floor(batchCells / width));
  const open = (): RecordBatch => ({ rows: 0, columns: Array.from({ length: width }, () => []) });
  let batch = open();
  let length = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const values = Object.values(JSON.parse(line) as Record<string, string | null>);
    for (let k = 0; k < width; k += 1) batch.columns[k]?.push(values[k] ?? null);
    batch.rows += 1;
    length += line.length;
    if (batch.rows < step && length < 8 * batchCells) continue;
    signal?.throwIfAborted();
    yield batch;
    [batch, length] = [open(), 0];
  }
  if (batch.rows > 0) yield batch;
}
