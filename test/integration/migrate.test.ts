import { execFile } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { inheritEnv } from '../../store/childEnv.ts';
import { projectDir } from '../../store/config.ts';
import { openDatabase } from '../../store/pg/database.ts';
import { listMigrations, migrateDatabase, migrateFirst } from '../../store/pg/migrate.ts';
import { createDatabase, type TestDatabase } from '../setup/database.ts';
import { openSql } from '../setup/everybody.ts';

/** `npm run migrate`, which a cluster needs: its API and workers do not migrate. */

let empty: TestDatabase;
beforeAll(async () => {
  empty = await createDatabase(inject('postgresUrl'));
});
afterAll(() => empty.drop());

function migrate(databaseUrl: string | undefined): Promise<{ code: number; text: string }> {
  const env = inheritEnv({ DATABASE_URL: databaseUrl });
  return new Promise((resolve) => {
    execFile(process.execPath, [join(projectDir, 'scripts/start.mjs'), 'migrate'], { cwd: projectDir, env }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, text: `${stdout}${stderr}` }),
    );
  });
}

it('makes the tables of an empty database, and has nothing to do the second time', async () => {
  for (let time = 0; time < 2; time += 1) expect(await migrate(empty.url)).toEqual({ code: 0, text: 'The database is up to date.\n' });
  const client = new pg.Client(empty.url);
  await client.connect();
  const { rows } = await client.query("SELECT to_regclass('tables') IS NOT NULL AS made");
  await client.end();
  expect(rows).toEqual([{ made: true }]);
});

it('says what is missing', async () => {
  const { code, text } = await migrate(undefined);
  expect([code, text]).toEqual([1, expect.stringContaining('DATABASE_URL is not set')]);
});

it('of a database in use is done step by step, and nobody waits behind a step that waits', async () => {
  const used = await createDatabase(inject('postgresUrl'));
  const [db, sql] = [openDatabase(used.url, { poolSize: 1, onError: () => {} }), openSql(used.url, 2)];
  const reader = await sql.connect();
  try {
    const all = listMigrations().length;
    // The next one changes `charges`, which somebody reads for a while.
    await migrateFirst(db, 39);
    await reader.query('BEGIN');
    await reader.query('SELECT FROM charges');
    const migrating = migrateDatabase(db);
    const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE \"charges\"%'";
    await expect.poll(async () => (await sql.query(waits)).rowCount).toBe(1);
    // As requests do.
    await sql.query("BEGIN; SET LOCAL lock_timeout = '3s'; INSERT INTO charges SELECT * FROM charges; COMMIT");
    await reader.query('COMMIT');
    await migrating;
    const { rows } = await sql.query(
      'SELECT count(*)::int AS n, count(DISTINCT xmin::text)::int AS steps FROM drizzle.__drizzle_migrations',
    );
    expect(rows).toEqual([{ n: all, steps: 1 + all - 39 }]);
  } finally {
    reader.release();
    await sql.end();
    await db.close();
    await used.drop();
  }
});
