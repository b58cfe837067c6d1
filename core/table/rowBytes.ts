import type { TableVersion } from './table.ts';

const unknownRowBytes = 200;

/** Estimated from the files; rows in the log are about as large. */
export function estimateRowBytes(at: TableVersion): number {
  const files = at.layers.filter((layer) => layer.kind !== 'log');
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  return rows === 0 ? unknownRowBytes : files.reduce((sum, file) => sum + file.bytes, 0) / rows;
}
