import type { TableAt } from './table.ts';

/** When a table is folded, and into what. */
export interface CompactionLimits {
  /** Entries of the log that readers merge at every read. */
  tail: number;
  deltas: number;
  /** Rows in deltas, as a part of all rows. */
  deltaShare: number;
  files: number;
  fileBytes: number;
  /** A file of this many rows has ten row groups: a point read opens one small file and decodes one group. */
  fileRows: number;
  /** Entries of the log that nobody needs in the database any more: so many are worth a file. */
  moved: number;
}

export const compactionLimits: CompactionLimits = {
  tail: 1_000,
  deltas: 20,
  deltaShare: 0.1,
  files: 50,
  fileBytes: 64 * 1024 * 1024,
  fileRows: 204_800,
  moved: 1_000,
};

/** `freeze`: the log becomes a delta. `compact`: all layers become segments. Null: the table is well as it is. */
export function chooseCompaction(at: TableAt, limits: CompactionLimits): 'freeze' | 'compact' | null {
  const deltas = at.layers.filter((layer) => layer.kind === 'delta');
  const files = at.layers.filter((layer) => layer.kind !== 'log').length;
  const long = at.table.tailCount > limits.tail;
  const count = deltas.length + (long ? 1 : 0);
  const rows = deltas.reduce((sum, delta) => sum + delta.rows, long ? at.table.tailCount : 0);
  if (count >= limits.deltas || files > limits.files || (count > 0 && rows > limits.deltaShare * at.rowCount)) return 'compact';
  return long ? 'freeze' : null;
}

/** Rows of one file: few enough for its size, enough for the number of files. The latter wins for huge tables. */
export function chooseFileRows(rowCount: number, rowBytes: number, limits: CompactionLimits): number {
  const bySize = Math.floor((0.8 * limits.fileBytes) / Math.max(1, rowBytes));
  return Math.max(1, Math.ceil(rowCount / limits.files), Math.min(limits.fileRows, bySize));
}
