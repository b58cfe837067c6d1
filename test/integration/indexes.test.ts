import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { openFolderStore } from '../../store/blobs/folderStore.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { closeAccount, listWorkbooksOf, revokeAccess } from '../../store/pg/closedAccounts.ts';
import { commit } from '../../store/pg/commit.ts';
import { openDatabase } from '../../store/pg/database.ts';
import { deleteAccount, purgeAccountRows, purgeDeliveriesAbout, purgeWebhook, purgeWorkbook } from '../../store/pg/purge.ts';
import { listWebhooksOf } from '../../store/pg/webhooks.ts';
import { hmacPads } from '../../store/secrets.ts';
import { makeId } from '../../store/services.ts';
import { createDatabase, type TestDatabase } from '../setup/database.ts';
import { openSql } from '../setup/everybody.ts';
import { fillTables } from '../setup/rowsOfAccount.ts';

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
  const count = async () => {
    const fresh = openSql(database.url, 1);
    const { rows } = await fresh.query<{ table: string; scans: number }>(
      'SELECT relname AS table, seq_scan::int AS scans FROM pg_stat_user_tables ORDER BY 1',
    );
    await fresh.end();
    return rows;
  };
  // What a connection has counted is told at the latest when it ends.
  await sql.end();
  const before = await count();
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-indexes-'));
  const db = openDatabase(database.url, { poolSize: 1, onError: () => {} });
  try {
    await acrossAccounts(() => remove(gone, { db, folder }));
  } finally {
    await db.close();
    await rm(folder, { recursive: true });
  }
  expect(await count()).toEqual(before);
  sql = openSql(database.url, 1);
  const { rows } = await sql.query<{ id: string }>('SELECT id FROM accounts');
  expect(rows).toEqual([{ id: other }]);
});

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
