import type { DuckDBDataChunk } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import { isValid } from '../../../core/table/textBatch.ts';

/**
 * A chunk's columns in DuckDB's memory, without an object per value. What is returned are views of that memory: they must be
 * copied before the next `await`, while the chunk is referenced.
 */
export interface RawColumn {
  rowCount: number;
  /** Bit i is 1 if value i is not NULL, lowest bit first, as in Arrow. Null: no value is NULL. */
  validity: Uint8Array | null;
  /** The values, `width` bytes each. The bytes of a NULL are undefined. */
  data(width: number): Uint8Array;
}

export function readColumn(chunk: DuckDBDataChunk, index: number): RawColumn {
  const { rowCount } = chunk;
  const vector = bindings.data_chunk_get_vector(handleOf(chunk), index);
  const validity: Uint8Array | null = bindings.vector_get_validity(vector, Math.ceil(rowCount / 64) * 8);
  return { rowCount, validity, data: (width) => bindings.vector_get_data(vector, rowCount * width) };
}

/** Reads a private field of DuckDB's API; the version of the package is pinned. */
function handleOf(chunk: DuckDBDataChunk): bindings.DataChunk {
  const { chunk: handle } = chunk as unknown as { chunk?: bindings.DataChunk };
  if (!handle) throw new Error('@duckdb/node-api has changed: a data chunk has no handle');
  return handle;
}

export function countNulls({ validity, rowCount }: Pick<RawColumn, 'validity' | 'rowCount'>): number {
  if (validity === null) return 0;
  let valid = 0;
  const wholeBytes = rowCount >> 3;
  for (let i = 0; i < wholeBytes; i++) valid += bitCounts[validity[i] as number] as number;
  for (let row = wholeBytes * 8; row < rowCount; row++) if (isValid(validity, row)) valid += 1;
  return rowCount - valid;
}

const bitCounts = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** A string in DuckDB: 4 bytes of length, then up to 12 bytes of text, or 4 of a prefix and 8 of an address. */
const stringWidth = 16;
const inlineBytes = 12;
/** Addresses above 2^53 cannot be compared as numbers; supported machines do not use them. */
const highestComparable = 0x200000;

/** How many bytes the texts of a column have, without touching them. */
export function sumText(column: RawColumn): number {
  const data = column.data(stringWidth);
  const words = new Uint32Array(data.buffer, data.byteOffset, column.rowCount * 4);
  let total = 0;
  for (let row = 0; row < column.rowCount; row++) if (isValid(column.validity, row)) total += words[row * 4] as number;
  return total;
}

/**
 * A copy of the bytes of a text or binary column, in order, with the start of each value and the end of the last; a NULL is empty.
 * Short values stand in the chunk itself and are copied without an object for each. Longer ones usually lie end to end elsewhere,
 * so adjacent ones are read with one call. `allocate` gives the room for it.
 */
export function copyText(
  column: RawColumn,
  allocate: (count: number) => Buffer = Buffer.allocUnsafe,
): { bytes: Buffer; offsets: Int32Array } {
  const { rowCount, validity } = column;
  const data = column.data(stringWidth);
  const words = new Uint32Array(data.buffer, data.byteOffset, rowCount * 4);
  const offsets = new Int32Array(rowCount + 1);
  let total = 0;
  for (let row = 0; row < rowCount; row++) {
    total += isValid(validity, row) ? (words[row * 4] as number) : 0;
    offsets[row + 1] = total;
  }
  if (total > 0x7fffffff) throw new Error('a batch holds more than 2 GiB of text in one column');
  const bytes = allocate(total);
  let run = { row: -1, bytes: 0, end: 0 };
  const endRun = () => {
    if (run.row >= 0) bytes.set(readAt(data, run.row, run.bytes), offsets[run.row]);
    run.row = -1;
  };
  for (let row = 0; row < rowCount; row++) {
    const [start, end] = [offsets[row] as number, offsets[row + 1] as number];
    const length = end - start;
    if (length <= inlineBytes) {
      if (length > 0) endRun();
      const from = row * stringWidth + 4 - start;
      for (let i = start; i < end; i++) bytes[i] = data[from + i] as number;
      continue;
    }
    const high = words[row * 4 + 3] as number;
    const address = high * 0x100000000 + (words[row * 4 + 2] as number);
    if (run.row >= 0 && address === run.end && high < highestComparable) run.bytes += length;
    else {
      endRun();
      run = { row, bytes: length, end: 0 };
    }
    run.end = address + length;
  }
  endRun();
  return { bytes, offsets };
}

/** `bytes` bytes from the address that the string of `row` holds. */
function readAt(data: Uint8Array, row: number, bytes: number): Uint8Array {
  return bindings.get_data_from_pointer(data.buffer as ArrayBuffer, data.byteOffset + row * stringWidth + 8, bytes);
}
