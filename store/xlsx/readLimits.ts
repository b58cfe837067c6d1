/** Limits on what a file may cost to read, checked against actual bytes and cells rather than sizes the file claims. */

import { MAX_COLUMNS, MAX_ROWS } from '../../core/a1/address.ts';

export interface ReadLimits {
  fileBytes: number;
  /** Of all parts together. */
  unpackedBytes: number;
  /** Unpacked bytes for each packed one, of any part past `ratioFromBytes`. */
  ratio: number;
  /** Parts smaller than this may have any ratio: small repetitive markup compresses extremely well. */
  ratioFromBytes: number;
  entries: number;
  rows: number;
  columns: number;
  cellsPerSheet: number;
  /** Of all sheets together, when they are held as grids. */
  cellsInMemory: number;
  /** One cell or string with its markup. */
  elementBytes: number;
  /** Styles, theme, workbook, tables: parts that are held as a whole. */
  partBytes: number;
  sheets: number;
  /** Of all formulas of the file, written out for each cell. A file that is held in memory may have fewer. */
  formulaCharacters: number;
  /** Merged ranges, defined names, tables: things kept as objects. */
  objects: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: ReadLimits = {
  fileBytes: 100 * MIB,
  unpackedBytes: 1024 * MIB,
  ratio: 200,
  ratioFromBytes: 8 * MIB,
  entries: 10_000,
  rows: MAX_ROWS,
  columns: MAX_COLUMNS,
  cellsPerSheet: 60_000_000,
  cellsInMemory: 30_000_000,
  elementBytes: 8 * MIB,
  partBytes: 64 * MIB,
  sheets: 2000,
  formulaCharacters: 512 * MIB,
  objects: 500_000,
};

export interface ReadOptions {
  limits?: Partial<ReadLimits>;
  signal?: AbortSignal;
}

export function fillLimits(options: ReadOptions | undefined): ReadLimits {
  return { ...DEFAULT_LIMITS, ...options?.limits };
}
