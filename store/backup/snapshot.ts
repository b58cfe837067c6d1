import type { Readable } from 'node:stream';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { listReferencedKeys, listWorkbookKeys, type WorkbookKey } from '../pg/garbage.ts';

/** The state of the whole database at one moment, as long as it is open. */
export interface Snapshot {
  takenAt: Date;
  /** Hashes of the migrations that were applied, in order. */
  migrations: string[];
  tables: TableShape[];
  sequences: SequenceState[];
  /** The rows of a table in PostgreSQL's text format; how many there were is known at the end. */
  readRows(table: TableShape): { rows: Readable; count(): number };
  /** In order of ids. */
  listWorkbooks(after: string, limit: number): Promise<WorkbookKey[]>;
  listBlobs(workbook: WorkbookKey): Promise<string[]>;
  close(): Promise<void>;
}

export interface TableShape {
  name: string;
  /** Those that are not computed by the database. */
  columns: string[];
}

export interface SequenceState {
  name: string;
  value: string;
  isCalled: boolean;
}

/** Rows may take hours to be read or written, and wait meanwhile for the other side. */
export const unhurried =
  'SET statement_timeout = 0; SET transaction_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET idle_session_timeout = 0';

/** How values are written as text; the same when they are read back. */
export const textSettings = "SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET extra_float_digits = 1; SET timezone = 'UTC'";

/** Unlogged tables are left out: PostgreSQL itself empties them after a crash. */
export const listTables = `
  SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
  GROUP BY c.relname ORDER BY c.relname`;

export async function openSnapshot(databaseUrl: string): Promise<Snapshot> {
  // A connection of its own: those of the pools send statements ahead, which a stream of rows does not bear.
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'workbook-data-service backup' });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`${unhurried}; ${textSettings}; SET svc.accounts = '*'`);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // The first statement takes the snapshot.
    const { rows: times } = await client.query<{ now: Date }>('SELECT now()');
    const { rows: migrations } = await client.query<{ hash: string }>('SELECT hash FROM drizzle.__drizzle_migrations ORDER BY created_at');
    const { rows: tables } = await client.query<TableShape>(listTables);
    return {
      takenAt: times[0]?.now as Date,
      migrations: migrations.map(({ hash }) => hash),
      tables,
      sequences: await readSequences(client),
      readRows({ name, columns }) {
        const text = `COPY ${pg.escapeIdentifier(name)} (${columns.map(pg.escapeIdentifier).join(', ')}) TO STDOUT`;
        const stream = client.query(copyTo(text));
        return { rows: stream, count: () => stream.rowCount };
      },
      listWorkbooks: (after, limit) => listWorkbookKeys(client, after, limit),
      async listBlobs({ id }) {
        return [...(await listReferencedKeys(client, id))];
      },
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function readSequences(client: pg.Client): Promise<SequenceState[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' ORDER BY relname",
  );
  const states: SequenceState[] = [];
  for (const { name } of rows) {
    const { rows: state } = await client.query<Omit<SequenceState, 'name'>>(
      `SELECT last_value::text AS value, is_called AS "isCalled" FROM ${pg.escapeIdentifier(name)}`,
    );
    states.push({ name, ...(state[0] as Omit<SequenceState, 'name'>) });
  }
  return states;
}
