import type { TableAt } from './table.ts';

/** When a table is compacted, and the size of the files it is compacted into. */
export interface CompactionLimits {
  /** Log entries that every read has to merge. */
  tail: number;
  deltas: number;
  /** Rows in deltas as a share of all rows. */
  deltaShare: number;
  files: number;
  fileBytes: number;
  /** Rows of a file. At this size it has ten row groups, so a point read opens one small file and decodes one group. */
  fileRows: number;
  /** How many log entries must be movable to a file before moving them is worthwhile. */
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

/** `freeze`: the log becomes a delta. `compact`: all layers become segments. Null: no compaction needed. */
export function chooseCompaction(at: TableAt, limits: CompactionLimits): 'freeze' | 'compact' | null {
  const deltas = at.layers.filter((layer) => layer.kind === 'delta');
  const files = at.layers.filter((layer) => layer.kind !== 'log').length;
  const long = at.table.tailCount > limits.tail;
  const count = deltas.length + (long ? 1 : 0);
  const rows = deltas.reduce((sum, delta) => sum + delta.rows, long ? at.table.tailCount : 0);
  if (count >= limits.deltas || files > limits.files || (count > 0 && rows > limits.deltaShare * at.rowCount)) return 'compact';
  return long ? 'freeze' : null;
}

/** Rows per file, within the size of a file and the number of files. For huge tables the number of files decides. */
export function chooseFileRows(rowCount: number, rowBytes: number, limits: CompactionLimits): number {
  const bySize = Math.floor((0.8 * limits.fileBytes) / Math.max(1, rowBytes));
  return Math.max(1, Math.ceil(rowCount / limits.files), Math.min(limits.fileRows, bySize));
}
