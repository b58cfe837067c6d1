import type { DuckDBDataChunk } from '@duckdb/node-api';

/** A format: what it selects from the query, and how it turns chunks into bytes. */
export interface RowWriter {
  /** The select list; `sqlOf` gives SQL for a column by position. */
  select(sqlOf: (index: number) => string): string;
  begin(): Buffer;
  /** The bytes must not refer to the chunk's memory. */
  write(chunk: DuckDBDataChunk): Buffer;
  end(): Buffer;
}
