import { compactionLimits } from '../../core/table/compactionLimits.ts';

/** Limits of the files of a raw table. */
export interface RawLimits {
  fileRows: number;
  fileBytes: number;
  /** A row group is held in memory when written, and read as a whole to find one row. */
  groupRows: number;
  groupBytes: number;
  /** Row groups times columns of a file: each has an entry in its footer. */
  fileChunks: number;
  /** Bytes of texts in one row. */
  rowBytes: number;
  /** Bytes of texts in all sheets: a small file can repeat one long text very often. */
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
