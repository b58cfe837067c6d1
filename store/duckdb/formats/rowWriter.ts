import type { DuckDBDataChunk } from '@duckdb/node-api';

/** One format: what it selects from the query, and the bytes it makes of what comes. */
export interface RowWriter {
  /** The select list, given SQL for the columns by position. */
  select(sqlOf: (index: number) => string): string;
  begin(): Buffer;
  /** Bytes that no longer need the chunk. */
  write(chunk: DuckDBDataChunk): Buffer;
  end(): Buffer;
}
