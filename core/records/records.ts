/** Files of records with typed columns: Parquet, JSON, NDJSON and Arrow. They become tables as they are, without structuring. */

export const recordFormats = ['parquet', 'json', 'ndjson', 'arrow'] as const;
export type RecordFormat = (typeof recordFormats)[number];

export function isRecordFormat(format: string): format is RecordFormat {
  return (recordFormats as readonly string[]).includes(format);
}

export interface RecordColumn {
  /** As the file has it; it may be empty, repeated or reserved. */
  name: string;
  /** Canonical name of a column type. */
  type: string;
}

/** Rows in the order of the file: the canonical text of each value, by column. */
export interface RecordBatch {
  rows: number;
  columns: (string | null)[][];
}
