import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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
/** For some minutes. */
const mostTries = 200;
const oldestServer = 170_000; // transaction_timeout came with PostgreSQL 17

/** Hashes of all migrations, in order. */
export function listMigrations(): string[] {
  return readMigrationFiles({ migrationsFolder: folder }).map(({ hash }) => hash);
}

/** Brings the database up to date. Several processes may call it at once: one does the work, the others wait. */
export async function migrateDatabase(db: Database): Promise<void> {
  await lockAndMigrate(db, async (client) => {
    const applied = await countApplied(client);
    if (applied === 0) await migrate(bindOrm(client), { migrationsFolder: folder });
    // Others are at work: a lock that one migration takes must not be held until all are done.
    else for (let count = applied + 1; count <= listMigrations().length; count += 1) await applyFirst(client, count);
    await applyFunctions(client, applied === 0);
  });
}

/** Applies the first migrations alone, so that the tables are as they were at that time. */
export async function migrateFirst(db: Database, count: number): Promise<void> {
  await lockAndMigrate(db, (client) => applyFirst(client, count));
}

async function countApplied(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ there: boolean }>("SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS there");
  if (!rows[0]?.there) return 0;
  const { rows: counted } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM drizzle.__drizzle_migrations');
  return counted[0]?.n ?? 0;
}

/** In one transaction, those that are not applied yet. */
async function applyFirst(client: pg.PoolClient, count: number): Promise<void> {
  const part = await mkdtemp(join(tmpdir(), 'svc-migrations-'));
  try {
    await mkdir(join(part, 'meta'));
    const journal = JSON.parse(await readFile(join(folder, journalPath), 'utf8')) as { entries: { tag: string }[] };
    const entries = journal.entries.slice(0, count);
    await writeFile(join(part, journalPath), JSON.stringify({ ...journal, entries }));
    for (const { tag } of entries) await copyFile(join(folder, `${tag}.sql`), join(part, `${tag}.sql`));
    await untilUnlocked(client, () => migrate(bindOrm(client), { migrationsFolder: part }));
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/**
 * Whoever wants a table that a migration waits for waits behind it, and gives up after `timeouts.lock`. So the migration gives up
 * before, and tries again.
 */
async function untilUnlocked(client: pg.PoolClient, work: () => Promise<unknown>): Promise<void> {
  await client.query("SET lock_timeout = '1s'");
  try {
    for (let tries = 1; ; tries += 1) {
      const failure = await work().then(
        () => null,
        (error: unknown) => error,
      );
      if (failure === null) return;
      if (!isLockTimeout(failure) || tries === mostTries) throw failure;
      await delay(500);
    }
  } finally {
    await client.query('RESET lock_timeout');
  }
}

function isLockTimeout(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if ((cause as { code?: string }).code === '55P03') return true;
  return false;
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
