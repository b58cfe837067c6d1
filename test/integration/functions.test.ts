import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import type pg from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { functionsRevision, retiredFunctions } from '../../schema/functions/revision.ts';
import { projectDir } from '../../store/config.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import { openDatabase } from '../../store/pg/database.ts';
import { readFunctionFiles } from '../../store/pg/functions.ts';
import { migrateDatabase } from '../../store/pg/migrate.ts';
import { makeId } from '../../store/services.ts';
import { createDatabase, type TestDatabase } from '../setup/database.ts';
import { openSql } from '../setup/everybody.ts';

/** The functions of the database: what stands in schema/functions is what a database has, whichever way it came there. */

const made: { database: TestDatabase; sql: pg.Pool }[] = [];
afterAll(async () => {
  for (const { database, sql } of made) {
    await sql.end();
    await database.drop();
  }
});

interface EmptyDatabase {
  url: string;
  sql: pg.Pool;
  /** As a process does when it starts. */
  start(): Promise<void>;
}

async function makeEmptyDatabase(): Promise<EmptyDatabase> {
  const database = await createDatabase(inject('postgresUrl'));
  const sql = openSql(database.url, 4);
  made.push({ database, sql });
  return {
    url: database.url,
    sql,
    async start() {
      const db = openDatabase(database.url, { poolSize: 1, onError: () => {} });
      await migrateDatabase(db).finally(() => db.close());
    },
  };
}

/** As code did that knew the first so many migrations, and no files of functions. */
async function migrateAsBefore(sql: pg.Pool, count: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-migrations-'));
  try {
    await cp(join(projectDir, 'schema/migrations'), folder, { recursive: true });
    const path = join(folder, 'meta/_journal.json');
    const journal = JSON.parse(await readFile(path, 'utf8')) as { entries: unknown[] };
    await writeFile(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }));
    await migrate(drizzle(sql), { migrationsFolder: folder });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function listFunctions(sql: pg.Pool): Promise<Map<string, string>> {
  const { rows } = await sql.query<{ signature: string; text: string }>(
    `SELECT oid::regprocedure::text AS signature, pg_get_functiondef(oid) AS text FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' ORDER BY 1`,
  );
  return new Map(rows.map(({ signature, text }) => [signature, text]));
}

const namesOf = (functions: Map<string, string>) => [...functions.keys()].map((signature) => signature.split('(')[0]);
const fresh = makeEmptyDatabase();
const readFresh = async () => {
  const { sql, start } = await fresh;
  await start();
  return listFunctions(sql);
};

describe('the functions of a database', () => {
  it('are those that have a file, each in the file of its name', async () => {
    const files = (await readdir(join(projectDir, 'schema/functions'))).filter((file) => file.endsWith('.sql'));
    expect(namesOf(await readFresh())).toEqual(files.map((file) => file.slice(0, -4)).sort());
    for (const { name, text } of await readFunctionFiles())
      expect([name, text.match(/CREATE OR REPLACE FUNCTION (\w+)/g)]).toEqual([name, [`CREATE OR REPLACE FUNCTION ${name}`]]);
  });

  it('carry a revision that was raised with their last change', async () => {
    const hashes = (await readFunctionFiles()).map(({ name, hash }) => `${name} ${hash}\n`).sort();
    const hash = createHash('sha256').update(hashes.join('')).digest('hex');
    expect(hash === functionsRevision.hash ? 'raised' : `raise functionsRevision.number and set its hash to ${hash}`).toBe('raised');
  });

  it.each([2, 10, 16])('are the same on a new database and on one that code of %i migrations made', async (count) => {
    const { sql, start } = await makeEmptyDatabase();
    await migrateAsBefore(sql, count);
    await sql.query("INSERT INTO users (id, email, name) VALUES ('usr_1', 'a@example.com', 'A')");
    await start();
    expect((await sql.query('SELECT id FROM users')).rowCount).toBe(1);
    const upgraded = await listFunctions(sql);
    const retired = new Set(retiredFunctions.map((signature) => signature.replaceAll(', ', ',')));
    expect(
      new Map([...upgraded].filter(([signature]) => !retired.has(signature.replaceAll('timestamp with time zone', 'timestamptz')))),
    ).toEqual(await readFresh());
    // Those of the version before go on calling what is retired, for a day.
    expect(upgraded.size).toBe((await readFresh()).size + retired.size);
    await sql.query("UPDATE drizzle.applied_functions SET applied_at = applied_at - interval '23 hours'");
    await start();
    expect(await listFunctions(sql)).toEqual(upgraded);
    await sql.query("UPDATE drizzle.applied_functions SET applied_at = applied_at - interval '2 hours'");
    await start();
    expect(await listFunctions(sql)).toEqual(await readFresh());
  });

  it('are applied once when several processes start at once, and not again', async () => {
    const { sql, start } = await makeEmptyDatabase();
    await Promise.all(Array.from({ length: 5 }, start));
    expect(await listFunctions(sql)).toEqual(await readFresh());
    const read = async () => (await sql.query('SELECT * FROM drizzle.applied_functions ORDER BY name')).rows;
    const before = await read();
    await start();
    expect(await read()).toEqual(before);
  });

  it('are replaced when their text is another than the one that was applied', async () => {
    const { sql, start } = await makeEmptyDatabase();
    await start();
    await sql.query(`CREATE OR REPLACE FUNCTION svc_may_touch_all() RETURNS boolean LANGUAGE sql STABLE RETURN true;
                     UPDATE drizzle.applied_functions SET hash = 'another' WHERE name = 'svc_may_touch_all'`);
    await start();
    expect(await listFunctions(sql)).toEqual(await readFresh());
  });

  it('are left alone by a process of an older revision', async () => {
    const { sql, start } = await makeEmptyDatabase();
    await start();
    await sql.query(`CREATE OR REPLACE FUNCTION svc_may_touch_all() RETURNS boolean LANGUAGE sql STABLE RETURN true;
                     UPDATE drizzle.applied_functions SET hash = 'newer', revision = revision + 1 WHERE name = 'svc_may_touch_all'`);
    const newer = await listFunctions(sql);
    await start();
    expect(await listFunctions(sql)).toEqual(newer);
  });

  it('are left as they were when one cannot be created', async () => {
    const { sql, start } = await makeEmptyDatabase();
    await start();
    // Its file cannot replace a function of another type; the one before it in the alphabet can be replaced.
    await sql.query(`CREATE OR REPLACE FUNCTION svc_may_touch_all() RETURNS boolean LANGUAGE sql STABLE RETURN true;
                     DROP FUNCTION svc_refuse_credit_change CASCADE;
                     CREATE FUNCTION svc_refuse_credit_change() RETURNS integer LANGUAGE sql RETURN 1;
                     UPDATE drizzle.applied_functions SET hash = 'another'`);
    const before = await listFunctions(sql);
    await expect(start()).rejects.toThrow();
    expect(await listFunctions(sql)).toEqual(before);
  });

  it('that are retired may be called beside the code that came for them: credits are not reserved twice', async () => {
    const { url, sql, start } = await makeEmptyDatabase();
    await migrateAsBefore(sql, 16);
    await start();
    await sql.query(`INSERT INTO users (id, email, name) VALUES ('usr_1', 'a@example.com', 'A');
                     INSERT INTO accounts (id, owner_id, name, kind) VALUES ('acc_1', 'usr_1', 'A', 'default')`);
    const actor: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };
    const db = openDatabase(url, { poolSize: 4, onError: () => {} });
    const committer = { db, makeId, auditPads: { inner: Buffer.alloc(64), outer: Buffer.alloc(64) } };
    const reserve = async (jobId: string) =>
      (await commit(committer, actor, (tx) => reserveCredits(tx, { accountId: 'acc_1', workbookId: null, jobId, amount: 30 }))).result;
    const reserveAsBefore = async (jobId: string) =>
      (await sql.query("SELECT svc_reserve_credits('acc_1', NULL, $1, 30, $2, now()) AS outcome", [jobId, { free: 200 }])).rows[0].outcome;
    try {
      const outcomes = await acrossAccounts(() =>
        Promise.all(Array.from({ length: 10 }, (_, i) => [reserve(`new_${i}`), reserveAsBefore(`old_${i}`), reserve(`both_${i}`)]).flat()),
      );
      expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(6);
      expect(outcomes.filter((outcome) => outcome === 'no_credits')).toHaveLength(24);
    } finally {
      await db.close();
    }
  });
});
