import { type DuckDBConnection, DuckDBInstance, type DuckDBPreparedStatement } from '@duckdb/node-api';
import { quoteText } from '../../relation.ts';

/** A database for one query, or for queries over the same tables by who may see the same of them. */
export interface Session {
  /** Runs user SQL; has the tables that it may see. */
  user: DuckDBConnection;
  /** Writes the result. */
  own: DuckDBConnection;
  /** Gives the syntax tree of the SQL that is its parameter. Every query needs it, so it is planned once. */
  serialize: DuckDBPreparedStatement;
  /** Forbids everything that queries do not need, and all files but those in these folders; cannot be undone. */
  lock(folders: string[]): Promise<void>;
  close(): void;
}

/** Limit of one process; that of the operating system is higher. */
const memoryLimit = '640MB';

const options: Record<string, string> = {
  threads: '1',
  memory_limit: memoryLimit,
  // Without a folder nothing is written to disk.
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
  // Filled when a view is created and used by the query over it.
  'SET parquet_metadata_cache = true',
];

/** Where tables can be held, compressed: they take less memory, and a scan of them less time. */
export const heldCatalog = '__svc_held';

export async function openSession(): Promise<Session> {
  const instance = await DuckDBInstance.create(':memory:', options);
  const [user, own] = [await instance.connect(), await instance.connect()];
  for (const connection of [user, own]) for (const sql of perConnection) await connection.run(sql);
  await own.run(`ATTACH ':memory:' AS ${heldCatalog} (COMPRESS)`);
  const serialize = await own.prepare('SELECT CAST(json_serialize_sql(CAST($1 AS VARCHAR)) AS VARCHAR)');
  return {
    user,
    own,
    serialize,
    async lock(folders) {
      const allowed = `SET allowed_directories = [${folders.map(quoteText).join(', ')}]`;
      await own.run(`${allowed}; SET enable_external_access = false; SET lock_configuration = true`);
    },
    close() {
      serialize.destroySync();
      user.closeSync();
      own.closeSync();
      instance.closeSync();
    },
  };
}
