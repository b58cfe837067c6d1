import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { openFolderStore } from '../../store/blobs/folderStore.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { findAccountOf } from '../../store/pg/accounts.ts';
import { closeAccount, listWorkbooksOf, revokeAccess } from '../../store/pg/closedAccounts.ts';
import { commit } from '../../store/pg/commit.ts';
import { findKnownCredential } from '../../store/pg/credentials.ts';
import { type Database, openDatabase } from '../../store/pg/database.ts';
import { findTableGovernance } from '../../store/pg/governance.ts';
import { findMe } from '../../store/pg/me.ts';
import { deleteAccount, purgeAccountRows, purgeDeliveriesAbout, purgeWebhook, purgeWorkbook } from '../../store/pg/purge.ts';
import { findStored } from '../../store/pg/storage.ts';
import { findCurrentTable, listNamedTables } from '../../store/pg/tables.ts';
import { findSessionUser } from '../../store/pg/users.ts';
import { listWebhooksOf } from '../../store/pg/webhooks.ts';
import { findVisibleWorkbook } from '../../store/pg/workbooks.ts';
import { hmacPads } from '../../store/secrets.ts';
import { makeId } from '../../store/services.ts';
import { createDatabase, type TestDatabase } from '../setup/database.ts';
import { openSql } from '../setup/everybody.ts';
import { fillTables, listCatalog } from '../setup/rowsOfAccount.ts';

/** Whoever deletes an account or a workbook finds its rows by indexes, however many rows others have. */

let database: TestDatabase;
let sql: pg.Pool;
beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'), inject('templateUrl'));
  sql = openSql(database.url, 1);
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

it('every reference has an index, but for those to people, who are not deleted', async () => {
  const { rows } = await sql.query<{ reference: string }>(
    `SELECT c.conrelid::regclass || ': ' || pg_get_constraintdef(c.oid) AS reference FROM pg_constraint c
     WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND c.confrelid <> 'users'::regclass AND NOT EXISTS (
       SELECT 1 FROM pg_index i, LATERAL (SELECT (string_to_array(i.indkey::text, ' ')::smallint[])[1:cardinality(c.conkey)] AS keys) AS first
       WHERE i.indrelid = c.conrelid AND i.indpred IS NULL AND first.keys @> c.conkey AND first.keys <@ c.conkey)`,
  );
  expect(rows.map(({ reference }) => reference)).toEqual([]);
});

it('the deletion of an account reads no table from end to end', async () => {
  const [gone, other] = ['acc_GONE', 'acc_OTHER'];
  for (const accountId of [gone, other]) await fillTables(sql, accountId);
  // Then only what no index helps with is read that way, however few rows there are.
  await sql.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET enable_seqscan = off`);
  await sql.end();
  const before = await count('seq_scan');
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-indexes-'));
  const db = openDatabase(database.url, { poolSize: 1, onError: () => {} });
  try {
    await acrossAccounts(() => remove(gone, { db, folder }));
  } finally {
    await db.close();
    await rm(folder, { recursive: true });
  }
  expect(await count('seq_scan')).toEqual(before);
  sql = openSql(database.url, 1);
  const { rows } = await sql.query<{ id: string }>('SELECT id FROM accounts');
  expect(rows).toEqual([{ id: other }]);
});

it('what every request looks up is found without reading what others have', async () => {
  const accountId = 'acc_SEED';
  await fillTables(sql, accountId);
  await sql.query("UPDATE accounts SET kind = 'default'");
  await copyRows(accountId, 100);
  await sql.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET enable_seqscan = off`);
  const find = async (statement: string) =>
    (await sql.query<{ a: string; b: string }>(statement, [accountId])).rows[0] as { a: string; b: string };
  const session = await find('SELECT s.jti AS a, s.user_id AS b FROM sessions s JOIN accounts a ON a.owner_id = s.user_id WHERE a.id = $1');
  const table = await find('SELECT workbook_id AS a, name AS b FROM tables WHERE account_id = $1');
  const { a: tableId } = await find('SELECT id AS a FROM tables WHERE account_id = $1');
  const { a: credentialId } = await find('SELECT id AS a FROM credentials WHERE account_id = $1');
  const lookUps: Record<string, (db: Database) => Promise<unknown>> = {
    session: (db) => findSessionUser(db, session.a, session.b),
    credential: (db) => findKnownCredential(db, credentialId),
    workbook: (db) => findVisibleWorkbook(db, { id: table.a, userId: session.b, accountId: null }),
    table: (db) => findCurrentTable(db, table.a, table.b),
    'named tables': async (db) => (await listNamedTables(db, table.a, [table.b, 'other']))[0],
    governance: (db) => findTableGovernance(db, { id: tableId, workbookId: table.a }),
    'account of a table': (db) => findAccountOf(db, 'tables', tableId),
    'what is stored': (db) => findStored(db, accountId),
    me: (db) => findMe(db, session.b, accountId),
  };
  await sql.end();
  const countRows = () => count('seq_tup_read + coalesce(idx_tup_fetch, 0)');
  // After some times PostgreSQL plans for any key.
  const times = 10;
  for (const [name, lookUp] of Object.entries(lookUps)) {
    const before = await countRows();
    const db = openDatabase(database.url, { poolSize: 1, onError: () => {} });
    await acrossAccounts(async () => {
      for (let time = 0; time < times; time += 1) expect(await lookUp(db), name).toBeTruthy();
    });
    await db.close();
    const read = [...(await countRows())].filter(([table, rows]) => rows - (before.get(table) ?? 0) > 4 * times);
    expect(read, name).toEqual([]);
  }
  sql = openSql(database.url, 1);
});

/** By table. What a connection has counted is told at the latest when it ends. */
async function count(what: string): Promise<Map<string, number>> {
  const fresh = openSql(database.url, 1);
  const { rows } = await fresh.query<{ table: string; times: number }>(
    `SELECT relname AS table, (${what})::int AS times FROM pg_stat_user_tables ORDER BY 1`,
  );
  await fresh.end();
  return new Map(rows.map(({ table, times }) => [table, times]));
}

/** Each after those that it refers to. */
const copied =
  'users accounts workspaces members sessions workbooks tables manifests credentials column_tags policies sources results'.split(' ');

/** The rows of others, who have the same as one account. */
async function copyRows(accountId: string, many: number): Promise<void> {
  const catalog = await listCatalog(sql);
  for (const table of copied) {
    const columns = catalog.get(table) ?? [];
    const names = columns.filter(({ generated }) => !generated).map(({ name }) => name);
    await sql.query(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.map((name) => `copy.${name}`).join(', ')}
       FROM ${table} AS row, generate_series(1, $1) AS n,
         LATERAL jsonb_populate_record(NULL::${table}, replace(to_jsonb(row)::text, $2, $2 || '_' || n)::jsonb) AS copy ON CONFLICT DO NOTHING`,
      [many, accountId],
    );
  }
  await sql.query('ANALYZE');
}

async function remove(accountId: string, { db, folder }: { db: ReturnType<typeof openDatabase>; folder: string }): Promise<void> {
  const quiet = () => {};
  const actor = { name: 'test', userId: null, credential: 'none', requestId: randomUUID() };
  const committer = { db, auditPads: hmacPads(Buffer.alloc(32)), makeId };
  const { pool } = db;
  await commit(committer, actor, (tx) => closeAccount(tx, accountId));
  await commit(committer, actor, (tx) => revokeAccess(tx, accountId));
  for (const id of await listWebhooksOf(db.orm, accountId)) await purgeWebhook(pool, id, quiet);
  await purgeDeliveriesAbout(pool, accountId, quiet);
  const blobs = await openFolderStore(folder);
  for (const id of await listWorkbooksOf(pool, accountId, 50)) await purgeWorkbook(pool, blobs, { id, accountId }, quiet);
  await purgeAccountRows(pool, accountId, quiet);
  await commit(committer, actor, (tx) => deleteAccount(tx.client, accountId));
}
