import { closeSync, fstatSync, openSync } from 'node:fs';
import { parquetMetadata } from 'hyparquet';
import { readBytes } from './pages.ts';

const trailerBytes = 8;

/** The bytes of a file's largest row group: what a reader of one row may have to hold. */
export function largestGroup(path: string): number {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const length = readBytes(file, size - trailerBytes, size).readUInt32LE(0);
    const { row_groups } = parquetMetadata(readBytes(file, size - trailerBytes - length, size), { geoparquet: false });
    return Math.max(0, ...row_groups.map(({ total_byte_size }) => Number(total_byte_size)));
  } finally {
    closeSync(file);
  }
}
