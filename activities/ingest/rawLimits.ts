import { compactionLimits } from '../../core/table/compactionLimits.ts';

/** What the files of a raw table may be like. */
export interface RawLimits {
  fileRows: number;
  fileBytes: number;
  /** A row group is what is held in memory, and what is read to find one row. */
  groupRows: number;
  groupBytes: number;
  /** Columns of all groups of a file: each is an entry in its footer. */
  fileChunks: number;
  /** Texts of one row. */
  rowBytes: number;
  /** Texts of all sheets: a small file can refer to one long text very often. */
  totalBytes: number;
}

const MIB = 1024 * 1024;

export const rawLimits: RawLimits = {
  fileRows: compactionLimits.fileRows,
  fileBytes: compactionLimits.fileBytes,
  groupRows: 20_480,
  groupBytes: 16 * MIB,
  fileChunks: 200_000,
  rowBytes: 32 * MIB,
  totalBytes: 1024 * MIB,
};
