import type { DuckDBDataChunk } from '@duckdb/node-api';
import type { ByteBatch } from '../../../core/table/textBatch.ts';
import { copyText, readColumn } from './rawChunk.ts';

/** Copies the texts of a chunk whose columns are all VARCHAR. */
export function copyTexts(chunk: DuckDBDataChunk, columnCount: number): ByteBatch {
  const columns = Array.from({ length: columnCount }, (_, i) => {
    const column = readColumn(chunk, i);
    return { ...copyText(column), validity: column.validity && new Uint8Array(column.validity) };
  });
  return { rowCount: chunk.rowCount, columns };
}
