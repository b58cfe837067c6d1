import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import type pg from 'pg';
import { projectDir } from '../config.ts';
import { acrossAccounts } from './accountScope.ts';
import type { Database } from './database.ts';
import { bindOrm } from './database.ts';
import { applyFunctions } from './functions.ts';

const folder = join(projectDir, 'schema/migrations');
const journalPath = 'meta/_journal.json';
const oldestServer = 170_000; // transaction_timeout came with PostgreSQL 17

/** Hashes of all migrations, in order. */
export function listMigrations(): string[] {
  return readMigrationFiles({ migrationsFolder: folder }).map(({ hash }) => hash);
}

/** Brings the database up to date. Several processes may call it at once: one does the work, the others wait. */
export async function migrateDatabase(db: Database): Promise<void> {
  await lockAndMigrate(db, async (client) => {
    const { rows } = await client.query<{ empty: boolean }>("SELECT to_regclass('drizzle.__drizzle_migrations') IS NULL AS empty");
    await migrate(bindOrm(client), { migrationsFolder: folder });
    await applyFunctions(client, rows[0]?.empty === true);
  });
}

/** Applies the first migrations alone, so that the tables are as they were at that time. */
export async function migrateFirst(db: Database, count: number): Promise<void> {
  const part = await mkdtemp(join(tmpdir(), 'svc-migrations-'));
  try {
    await mkdir(join(part, 'meta'));
    const journal = JSON.parse(await readFile(join(folder, journalPath), 'utf8')) as { entries: { tag: string }[] };
    const entries = journal.entries.slice(0, count);
    await writeFile(join(part, journalPath), JSON.stringify({ ...journal, entries }));
    for (const { tag } of entries) await copyFile(join(folder, `${tag}.sql`), join(part, `${tag}.sql`));
    await lockAndMigrate(db, (client) => migrate(bindOrm(client), { migrationsFolder: part }));
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

async function lockAndMigrate(db: Database, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
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
      await work(client);
    } finally {
      await client.query("SELECT pg_advisory_unlock(hashtextextended('svc migrations', 0))");
    }
  } finally {
    client.release();
  }
}
