import { open } from 'node:fs/promises';
import { type Data, type RecordBatch, RecordBatchReader } from 'apache-arrow';
import type { ByteBatch, ByteColumn } from '../../core/table/textBatch.ts';

/** Reads a file of texts that `BatchFile` wrote. */
export async function* readBatchFile(path: string): AsyncGenerator<ByteBatch> {
  const handle = await open(path);
  try {
    const reader = await (await RecordBatchReader.from(handle)).open();
    for await (const { numRows, data } of reader as AsyncIterable<RecordBatch>)
      yield { rowCount: numRows, columns: data.children.map(fromArrow) };
  } finally {
    // The reader has closed it already if it came to the end.
    await handle.close().catch(() => {});
  }
}

function fromArrow({ values, valueOffsets, nullBitmap, nullCount }: Data): ByteColumn {
  return { bytes: values, offsets: valueOffsets, validity: nullCount > 0 ? nullBitmap : null };
}
