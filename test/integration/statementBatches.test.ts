import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountPool } from '../../store/pg/accountPool.ts';
import { type BatchedStatement, makeStatementBatches, type SendBatched } from '../../store/pg/statementBatches.ts';
import { createTestDatabase } from '../setup/api.ts';
import { openSql } from '../setup/everybody.ts';

/** Changes that go along together: each is one transaction, answered for itself once it is on disk. */

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let sql: ReturnType<typeof openSql>;
let pool: AccountPool;
let send: SendBatched;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = openSql(database.url, 2);
  await sql.query('CREATE TABLE ridden (n integer PRIMARY KEY, account text, backend integer, transaction text)');
  pool = new AccountPool({ connectionString: database.url, max: 4, pipeline: true, options: '-c synchronous_commit=on' });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  send = makeStatementBatches(pool);
});
afterAll(async () => {
  await pool.end();
  await sql.end();
  await database.drop();
});

const insert = (n: number | string): BatchedStatement => ({
  name: 'ride',
  text: `INSERT INTO ridden SELECT $1::integer, current_setting('svc.accounts', true), pg_backend_pid(), pg_current_xact_id()::text
         RETURNING *, pg_current_wal_insert_lsn()::text AS lsn, set_config('synchronous_commit', 'off', true)`,
  values: [n],
});
const outcomes = async (sent: ReturnType<SendBatched>[]) =>
  (await Promise.allSettled(sent)).map((each) => (each.status === 'fulfilled' ? each.value.rows[0] : each.reason.code));
const listRidden = async (from: number) =>
  (await sql.query('SELECT n FROM ridden WHERE n >= $1 ORDER BY n', [from])).rows.map(({ n }) => n);

describe('makeStatementBatches: statements that wait for one lock', () => {
  it('are transactions of their own on one connection, each with its answer', async () => {
    const rows = await outcomes(Array.from({ length: 120 }, (_, i) => send('acc_A', 'lock', insert(i))));
    expect(rows.map((row) => row.n)).toEqual(Array.from({ length: 120 }, (_, i) => i));
    expect(new Set(rows.map((row) => row.backend)).size).toBe(1);
    expect(new Set(rows.map((row) => row.transaction)).size).toBe(120);
  });

  it('fail alone', async () => {
    const rows = await outcomes([1000, 1001, 1000, 'no number', 1002].map((n) => send('acc_A', 'lock', insert(n))));
    expect(rows).toMatchObject([{ n: 1000 }, { n: 1001 }, '23505', '22P02', { n: 1002 }]);
    expect(await listRidden(1000)).toEqual([1000, 1001, 1002]);
  });

  it('are on disk when they are answered', async () => {
    for (let n = 2000; n < 2030; n += 3) {
      const rows = await outcomes([n, n + 1, n + 2].map((each) => send('acc_A', 'lock', insert(each))));
      const { rows: flushed } = await sql.query('SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn AS done', [rows.at(-1).lsn]);
      expect(flushed).toEqual([{ done: true }]);
    }
  });

  it('are told whose rows they are about, and batches of different locks do not wait for each other', async () => {
    const holder = await sql.connect();
    await holder.query('BEGIN');
    await holder.query('INSERT INTO ridden (n) VALUES (3000)');
    const held = outcomes([3000, 3001].map((n) => send('acc_A', 'lock', insert(n))));
    const others = await outcomes([send('acc_B', 'lock', insert(3002)), send('acc_A', 'another lock', insert(3003))]);
    expect(others).toMatchObject([
      { n: 3002, account: 'acc_B' },
      { n: 3003, account: 'acc_A' },
    ]);
    expect(await listRidden(3000)).toEqual([3002, 3003]);
    await holder.query('COMMIT');
    holder.release();
    expect(await held).toMatchObject(['23505', { n: 3001, account: 'acc_A' }]);
  });

  it('all hear of it when their connection breaks, and the next get another', async () => {
    const holder = await sql.connect();
    await holder.query('BEGIN');
    await holder.query('INSERT INTO ridden (n) VALUES (4001)');
    const lost = outcomes([4000, 4001, 4002].map((n) => send('acc_A', 'lock', insert(n))));
    const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await sql.query(waiting)).rowCount).toBe(1);
    await sql.query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) AS w`);
    const codes = await lost;
    await holder.query('ROLLBACK');
    holder.release();
    // The first was done, but nobody can say that it is on disk.
    expect(codes.some((code) => typeof code === 'object')).toBe(false);
    expect(await outcomes([send('acc_A', 'lock', insert(4003))])).toMatchObject([{ n: 4003 }]);
    expect(await listRidden(4002)).toEqual([4003]);
  });
});
