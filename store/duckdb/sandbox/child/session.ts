import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { quoteText } from '../../relation.ts';

/** What SQL may reach of the file system, as the process sees it. */
export interface SessionFolders {
  /** Files of tables without hidden columns. */
  openDir: string;
  /** Where the result is written. */
  outDir: string;
}

/** A database of its own for one request. Nothing of it outlives the request. */
export interface Session {
  /** Runs the SQL of others, and holds the tables it may see. */
  user: DuckDBConnection;
  /** Writes the result. */
  own: DuckDBConnection;
  /** Shuts everything but what the query needs; nothing can be opened again. */
  lock(): Promise<void>;
  close(): void;
}

/** Of one process; the operating system's limit lies above it. */
const memoryLimit = '640MB';

const options: Record<string, string> = {
  threads: '1',
  memory_limit: memoryLimit,
  // Without a folder, nothing is ever spilled to disk.
  temp_directory: '',
  max_temp_directory_size: '0B',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_unsigned_extensions: 'false',
  allow_persistent_secrets: 'false',
  allow_parser_override_extension: 'DEFAULT',
  enable_external_file_cache: 'false',
  preserve_insertion_order: 'true',
};

const perConnection = [
  'SET errors_as_json = true',
  "SET TimeZone = 'UTC'",
  "SET Calendar = 'gregorian'",
  // Made for the view and used by the query over it; gone with the request.
  'SET parquet_metadata_cache = true',
];

export async function openSession({ openDir, outDir }: SessionFolders): Promise<Session> {
  const instance = await DuckDBInstance.create(':memory:', options);
  const [user, own] = [await instance.connect(), await instance.connect()];
  for (const connection of [user, own]) for (const sql of perConnection) await connection.run(sql);
  await own.run(`SET allowed_directories = [${[openDir, outDir].map(quoteText).join(', ')}]`);
  return {
    user,
    own,
    async lock() {
      await own.run('SET enable_external_access = false; SET lock_configuration = true');
    },
    close() {
      user.closeSync();
      own.closeSync();
      instance.closeSync();
    },
  };
}
