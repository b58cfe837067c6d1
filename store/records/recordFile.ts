import { DomainError } from '../../core/errors.ts';
import type { RecordBatch, RecordColumn } from '../../core/records/records.ts';
import { DEFAULT_LIMITS, type ReadLimits } from '../xlsx/readLimits.ts';

/** An open file of records. */
export interface RecordFile {
  columns: RecordColumn[];
  /** Null when it is only known at the end. */
  rows: number | null;
  batches(): AsyncIterable<RecordBatch>;
  close(): Promise<void>;
}

export interface RecordLimits extends Pick<ReadLimits, 'rows' | 'columns' | 'ratio' | 'ratioFromBytes'> {
  /** Of all values as text. */
  totalBytes: number;
  /** Of the values of one record. */
  rowBytes: number;
}

export const recordLimits: RecordLimits = {
  ...DEFAULT_LIMITS,
  totalBytes: DEFAULT_LIMITS.unpackedBytes,
  rowBytes: 32 * 1024 * 1024,
};

/** Values in a batch: batches of wide records have fewer rows. */
export const batchCells = 131_072;

export function refuseRecords(detail: string, suggestedFix: string, cause?: unknown): DomainError {
  return new DomainError('validation-failed', detail, suggestedFix, { cause });
}

export function refuseLarge(detail: string): DomainError {
  return new DomainError('too-large', detail, 'Split the file.');
}

export function checkColumnCount(count: number, limits: RecordLimits): void {
  if (count > limits.columns) throw refuseLarge(`The file has ${count} columns; ${limits.columns} are possible.`);
  if (count === 0) throw refuseRecords('The file has no columns.', 'Send a file whose records have names.');
}

export function checkRowCount(count: number, limits: RecordLimits): void {
  if (count > limits.rows) throw refuseLarge(`The file has more than ${limits.rows} records.`);
}

/** Column types that no column of a table can have. */
export function refuseType(name: string, type: string): DomainError {
  return refuseRecords(
    `Column ${JSON.stringify(name.slice(0, 100))} is of the type ${type}, which tables do not have.`,
    'Convert the column to text or numbers, or leave it out.',
  );
}
