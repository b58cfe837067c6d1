import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { listTables, type SequenceState, type TableShape, textSettings, unhurried } from './snapshot.ts';

/** What a database that is to be filled holds already. */
export interface DatabaseState {
  /** Hashes of the migrations that were applied, in order. */
  migrations: string[];
  /** A table that has rows; null: none has. */
  filledTable: string | null;
}

export interface DatabaseLoad {
  loadRows(table: TableShape, rows: Readable): Promise<number>;
  setSequence(state: SequenceState): Promise<void>;
  /** Checks what the rows refer to, and makes all of it durable at once. */
  commit(): Promise<void>;
  /** Nothing has changed, unless it was committed. */
  close(): Promise<void>;
}

async function connect(databaseUrl: string): Promise<pg.Client> {
  // A connection of its own: those of the pools send statements ahead, which a stream of rows does not bear.
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'workbook-data-service restore' });
  client.on('error', () => {});
  await client.connect();
  await client.query(`${unhurried}; ${textSettings}; SET svc.accounts = '*'`);
  return client;
}

export async function readDatabaseState(databaseUrl: string): Promise<DatabaseState> {
  const client = await connect(databaseUrl);
  try {
    const { rows: known } = await client.query<{ there: boolean }>(
      "SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS there",
    );
    const migrations = known[0]?.there
      ? (await client.query<{ hash: string }>('SELECT hash FROM drizzle.__drizzle_migrations ORDER BY created_at')).rows
      : [];
    const { rows: tables } = await client.query<TableShape>(listTables);
    let filledTable: string | null = null;
    for (const { name } of tables) {
      const { rowCount } = await client.query(`SELECT 1 FROM ${pg.escapeIdentifier(name)} LIMIT 1`);
      if (rowCount) filledTable = name;
    }
    return { migrations: migrations.map(({ hash }) => hash), filledTable };
  } finally {
    await client.end();
  }
}

/** Whether every table has as many rows as it is said to have. */
export async function hasRows(databaseUrl: string, tables: { name: string; rows: number }[]): Promise<boolean> {
  const client = await connect(databaseUrl);
  try {
    for (const { name, rows } of tables) {
      const { rows: counted } = await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${pg.escapeIdentifier(name)}`);
      if (Number(counted[0]?.n) !== rows) return false;
    }
    return true;
  } finally {
    await client.end();
  }
}

interface Constraint {
  table: string;
  name: string;
  definition: string;
}

/**
 * Fills the tables in one transaction. References between tables are checked at its end, so that the order of the tables does
 * not matter; triggers are for edits, and do not run. Row security does not allow COPY, so it is off within the transaction.
 */
export async function openLoad(databaseUrl: string): Promise<DatabaseLoad> {
  const client = await connect(databaseUrl);
  try {
    await client.query('BEGIN');
    const { rows: references } = await client.query<Constraint>(
      `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
       FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace ORDER BY oid`,
    );
    const { rows: walled } = await client.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relforcerowsecurity`,
    );
    const { rows: triggered } = await client.query<{ name: string }>(
      "SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O'",
    );
    for (const { table, name } of references) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    for (const { name } of walled) await client.query(`ALTER TABLE ${name} NO FORCE ROW LEVEL SECURITY`);
    for (const { name } of triggered) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
    return {
      async loadRows({ name, columns }, rows) {
        const text = `COPY ${pg.escapeIdentifier(name)} (${columns.map(pg.escapeIdentifier).join(', ')}) FROM STDIN`;
        const sink = client.query(copyFrom(text));
        await pipeline(rows, sink);
        return sink.rowCount;
      },
      async setSequence({ name, value, isCalled }) {
        await client.query('SELECT setval($1::regclass, $2, $3)', [pg.escapeIdentifier(name), value, isCalled]);
      },
      async commit() {
        for (const { table, name, definition } of references)
          await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
        for (const { name } of triggered) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
        for (const { name } of walled) await client.query(`ALTER TABLE ${name} FORCE ROW LEVEL SECURITY`);
        await client.query('COMMIT');
        await client.query('ANALYZE');
      },
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}
