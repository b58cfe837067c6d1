import type { TailFiles } from '../duckdb/tailFiles.ts';
import type { Storage } from '../duckdb/writeFile.ts';
import type { Database } from '../pg/database.ts';

/** Where the content of tables lies: files, the log in the database, and the engine that reads both. */
export interface TableStorage extends Storage {
  db: Database;
  tails: TailFiles;
}
