import type { TailFiles } from '../duckdb/tailFiles.ts';
import type { Storage } from '../duckdb/writeFile.ts';
import type { Database } from '../pg/database.ts';

/** What is needed to read tables: files, the log in the database, and DuckDB to read both. */
export interface TableStorage extends Storage {
  db: Database;
  tails: TailFiles;
}
