import type { DuckDBDataChunk } from '@duckdb/node-api';
import type { TextBatch } from '../../../core/table/textBatch.ts';
import { isValid, type RawColumn, readColumn, readText } from './rawChunk.ts';

/**
 * Copies the texts of a chunk whose columns are all VARCHAR. They become strings when the returned function is called: bytes that
 * wait cost the garbage collector nothing.
 */
export function copyTexts(chunk: DuckDBDataChunk, columnCount: number): () => TextBatch {
  const { rowCount } = chunk;
  const columns = Array.from({ length: columnCount }, (_, i) => copyColumn(readColumn(chunk, i)));
  return () => ({ rowCount, texts: columns.map(decodeColumn) });
}

interface CopiedColumn {
  bytes: Buffer;
  offsets: Int32Array;
  validity: Uint8Array | null;
}

function copyColumn(column: RawColumn): CopiedColumn {
  const offsets = new Int32Array(column.rowCount + 1);
  const bytes = Buffer.concat(readText(column, offsets));
  return { bytes, offsets, validity: column.validity && new Uint8Array(column.validity) };
}

/** Decodes a column at once and cuts it, which is much faster than to decode each value. */
function decodeColumn({ bytes, offsets, validity }: CopiedColumn): (string | null)[] {
  const whole = bytes.toString();
  if (whole.length !== bytes.length) shortenOffsets(bytes, offsets);
  const texts = new Array<string | null>(offsets.length - 1);
  for (let row = 0; row < texts.length; row += 1) texts[row] = isValid(validity, row) ? whole.slice(offsets[row], offsets[row + 1]) : null;
  return texts;
}

/** Turns offsets of bytes into offsets of UTF-16 units. */
function shortenOffsets(bytes: Uint8Array, offsets: Int32Array): void {
  let units = 0;
  let next = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    while (offsets[next] === i) offsets[next++] = units;
    const byte = bytes[i] as number;
    // Bytes that go on with a character count nothing; characters of four bytes are two units.
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  while (next < offsets.length) offsets[next++] = units;
}
