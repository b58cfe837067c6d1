import { join } from 'node:path';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { projectDir } from '../config.ts';
import { acrossAccounts } from './accountScope.ts';
import type { Database } from './database.ts';
import { bindOrm } from './database.ts';
import { applyFunctions } from './functions.ts';

const folder = join(projectDir, 'schema/migrations');
const oldestServer = 170_000; // transaction_timeout came with PostgreSQL 17

/** Brings the database up to date. Several processes may call it at once: one does the work, the others wait. */
export async function migrateDatabase(db: Database): Promise<void> {
  // A migration may change rows of all accounts.
  const client = await acrossAccounts(() => db.pool.connect());
  try {
    const { rows } = await client.query<{ version: string; encoding: string }>(
      "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding",
    );
    if (Number(rows[0]?.version) < oldestServer) throw new Error('PostgreSQL 17 or newer is needed; point DATABASE_URL at one.');
    if (rows[0]?.encoding !== 'UTF8') throw new Error('The database must have the encoding UTF8; create it with ENCODING UTF8.');
    await client.query("SELECT pg_advisory_lock(hashtextextended('svc migrations', 0))");
    try {
      const { rows } = await client.query<{ empty: boolean }>("SELECT to_regclass('drizzle.__drizzle_migrations') IS NULL AS empty");
      await migrate(bindOrm(client), { migrationsFolder: folder });
      await applyFunctions(client, rows[0]?.empty === true);
    } finally {
      await client.query("SELECT pg_advisory_unlock(hashtextextended('svc migrations', 0))");
    }
  } finally {
    client.release();
  }
}
