import type { ColumnRecord, TableVersion } from './table.ts';

const unknownRowBytes = 200;

/** Estimated from the files; rows in the log are about as large. Defaults are stored once, but shown in every row. */
export function estimateRowBytes(at: TableVersion, columns: Pick<ColumnRecord, 'defaultText'>[]): number {
  const defaults = columns.reduce((sum, { defaultText }) => sum + (defaultText?.length ?? 0), 0);
  return defaults + estimateStoredBytes(at);
}

function estimateStoredBytes(at: TableVersion): number {
  const files = at.layers.filter((layer) => layer.kind !== 'log');
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  return rows === 0 ? unknownRowBytes : files.reduce((sum, file) => sum + file.bytes, 0) / rows;
}

/** Rows in memory, with what is made of them until they are written or sent. */
const bytesPerByte = 6;
const bytesPerCell = 40;

/** What so many rows take in memory. */
export function estimateRowsMemory(at: TableVersion, columns: Pick<ColumnRecord, 'defaultText'>[], rows: number): number {
  return rows * (estimateRowBytes(at, columns) * bytesPerByte + columns.length * bytesPerCell);
}
