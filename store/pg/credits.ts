import type pg from 'pg';
import { type Books, closeKey, type HeldCredits, type Movement, reserveKey } from '../../core/credits/books.ts';
import { monthOf } from '../../core/credits/month.ts';
import { creditEntries, creditMovements } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import { sendTogether } from './sendTogether.ts';

/** Of a bucket of the lot `lot` of an account, as far as entries fulfil a condition. */
const balanceOf = (account: string, bucket: string, condition = 'true', order = 'e.seq DESC') =>
  `coalesce((SELECT e.balance FROM credit_entries e
     WHERE e.account_id = ${account} AND e.bucket = '${bucket}' AND e.source = lot.source AND e.ends = lot.ends AND ${condition}
     ORDER BY ${order} LIMIT 1), 0)`;

const lotsOf = (account: string, condition = 'true') =>
  `(SELECT DISTINCT e.source, e.ends FROM credit_entries e WHERE e.account_id = ${account} AND e.bucket = 'issued' AND ${condition}) AS lot`;

const lockAccounts = (accountIds: string[]) => ({
  name: 'lock_credits',
  text: `SELECT pg_advisory_xact_lock(hashtextextended('credits ' || id, 0)) FROM unnest($1::text[]) AS id`,
  values: [accountIds],
});

const selectBooks = (accountIds: string[]) => ({
  name: 'credit_books',
  text: `SELECT k.id AS "accountId", a.plan, coalesce((
           SELECT json_agg(json_build_object('source', lot.source, 'ends', lot.ends, 'available', ${balanceOf('k.id', 'available')})
                           ORDER BY lot.source, lot.ends)
           FROM ${lotsOf('k.id')}), '[]') AS lots
         FROM unnest($1::text[]) AS k(id) LEFT JOIN accounts a ON a.id = k.id`,
  values: [accountIds],
});

/**
 * What accounts' books say, and nobody else changes them until the transaction ends. In the order of the ids, so that two
 * transactions cannot wait for each other. The lock is a statement of its own: what is read must be what is there after it.
 */
export async function lockBooks(tx: Tx, accountIds: string[]): Promise<Books[]> {
  const sorted = [...accountIds].sort();
  const [, { rows }] = await Promise.all(
    sendTogether(tx.client, () => [tx.client.query(lockAccounts(sorted)), tx.client.query<Books>(selectBooks(sorted))] as const),
  );
  return rows;
}

/** The same of one account, and what a job holds of it; `held` is null when the job has reserved nothing. */
export async function lockJobBooks(tx: Tx, accountId: string, jobId: string): Promise<{ books: Books; held: HeldCredits | null }> {
  const [[books], { rows }] = await Promise.all([
    lockBooks(tx, [accountId]),
    tx.client.query<HeldCredits>({
      name: 'held_credits',
      text: `SELECT m.workbook_id AS "workbookId", c.kind AS closed, (
               SELECT json_agg(json_build_object('source', e.source, 'ends', e.ends, 'amount', e.amount) ORDER BY e.source, e.ends)
               FROM credit_entries e WHERE e.account_id = $1 AND e.key = $2 AND e.bucket = 'reserved') AS parts
             FROM credit_movements m LEFT JOIN credit_movements c ON c.account_id = $1 AND c.key = $3
             WHERE m.account_id = $1 AND m.key = $2`,
      values: [accountId, reserveKey(jobId), closeKey(jobId)],
    }),
  ]);
  return { books: books as Books, held: rows[0] ?? null };
}

/** Whether the books have a movement of this key; looked up after their lock is had. */
export async function hasMovement(tx: Tx, accountId: string, key: string): Promise<boolean> {
  const { rowCount } = await tx.client.query('SELECT 1 FROM credit_movements WHERE account_id = $1 AND key = $2', [accountId, key]);
  return rowCount !== 0;
}

export interface AccountMovements {
  accountId: string;
  movements: Movement[];
}

/** Writes movements of books that the transaction has locked. Constraints refuse what was planned without the lock. */
export async function insertMovements(tx: Tx, planned: AccountMovements[]): Promise<void> {
  const moved = planned.flatMap(({ accountId, movements }) => movements.map((movement) => ({ accountId, at: tx.at, ...movement })));
  if (moved.length === 0) return;
  await tx.orm.insert(creditMovements).values(moved.map(({ shifts: _, ...movement }) => movement));
  // A trigger numbers them and carries the balance on.
  const unnumbered = { seq: 0, balance: 0 };
  const entries = moved.flatMap(({ accountId, key, at, shifts }) =>
    shifts.flatMap(({ source, ends, from, to, amount }) => [
      { accountId, key, at, source, ends, bucket: from, amount: -amount, ...unnumbered },
      { accountId, key, at, source, ends, bucket: to, amount, ...unnumbered },
    ]),
  );
  await tx.orm.insert(creditEntries).values(entries);
}

/** Reservations that nobody will end any more: their jobs are over or gone. Young ones are left alone, whoever made them. */
export async function listStuckReservations(pool: pg.Pool): Promise<{ accountId: string; jobId: string }[]> {
  const { rows } = await pool.query<{ accountId: string; jobId: string }>(
    `SELECT m.account_id AS "accountId", m.ref AS "jobId" FROM credit_movements m
     WHERE m.kind = 'reserve' AND m.at < now() - interval '1 hour'
       AND NOT EXISTS (SELECT 1 FROM credit_movements c WHERE c.account_id = m.account_id AND c.key = $1 || m.ref)
       AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = m.ref AND j.finished_at IS NULL)
     ORDER BY m.at LIMIT 1000`,
    [closeKey('')],
  );
  return rows;
}

/** The accounts after one, in order of their ids, whose grant of the month is not in the books yet. */
export async function listAccountsWithoutGrant(pool: pg.Pool, after: string, limit: number, at: Date): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT a.id FROM accounts a
     WHERE a.id > $1 AND a.deleted_at IS NULL AND NOT EXISTS (
       SELECT 1 FROM credit_entries e WHERE e.account_id = a.id AND e.bucket = 'issued' AND e.source = 'included' AND e.ends >= $3)
     ORDER BY a.id LIMIT $2`,
    [after, limit, monthOf(at)],
  );
  return rows.map(({ id }) => id);
}

/** SQL: the lots of an account that can be spent in the month of a time, as `LotBalances`. */
export const selectLotBalances = (account: string, at: string) =>
  `(SELECT coalesce(json_agg(json_build_object('source', lot.source, 'available', ${balanceOf(account, 'available')},
             'reserved', ${balanceOf(account, 'reserved')}, 'spent', ${balanceOf(account, 'spent')},
             'spentBefore', ${balanceOf(account, 'spent', `e.at < date_trunc('month', ${at}, 'UTC')`, 'e.at DESC, e.seq DESC')})), '[]')
    FROM ${lotsOf(account, `e.ends >= to_char(${at} AT TIME ZONE 'UTC', 'YYYYMM')::integer`)})`;
