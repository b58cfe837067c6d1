import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { countCeiling } from '../../core/billing/overage.ts';
import { type Books, closeKey, type HeldCredits, type Movement, type OverageLot, reserveKey } from '../../core/credits/books.ts';
import { monthOf } from '../../core/credits/month.ts';
import type { RemainingCredits } from '../../core/credits/planForfeit.ts';
import { listGrantingPlans } from '../../core/credits/priceList.ts';
import { creditEntries, creditMovements } from '../../schema/index.ts';
import type { AccountRecord } from './accounts.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';
import { sendTogether } from './sendTogether.ts';

/** SQL: the balance of a bucket of the lot `lot`, as of the last entry that meets a condition. */
const balanceOf = (account: string, bucket: string, condition = 'true', order = 'e.seq DESC') =>
  `coalesce((SELECT e.balance FROM credit_entries e
     WHERE e.account_id = ${account} AND e.bucket = '${bucket}' AND e.source = lot.source AND e.ends = lot.ends AND ${condition}
     ORDER BY ${order} LIMIT 1), 0)`;

const lotsOf = (account: string, condition = 'true') =>
  `(SELECT DISTINCT e.source, e.ends FROM credit_entries e WHERE e.account_id = ${account} AND e.bucket = 'issued' AND ${condition}) AS lot`;

/** SQL: what an account ran over in each month, as `OverageLot`s. */
const selectOverage = (account: string) =>
  `(SELECT coalesce(json_agg(json_build_object('ends', lot.ends, 'reserved', ${balanceOf(account, 'reserved')},
             'spent', ${balanceOf(account, 'spent')}, 'settled', ${balanceOf(account, 'settled')})), '[]')
    FROM ${lotsOf(account, "e.source = 'overage'")})`;

const lockAccounts = (accountIds: string[]) => ({
  name: 'lock_credits',
  text: `SELECT pg_advisory_xact_lock(hashtextextended('credits ' || id, 0)) FROM unnest($1::text[]) AS id`,
  values: [accountIds],
});

const selectBooks = (accountIds: string[]) => ({
  name: 'credit_books',
  text: `SELECT k.id AS "accountId", a.plan, a.kind, a.plan_status AS "planStatus", coalesce(p.arrears, 0) AS arrears, coalesce((
           SELECT json_agg(json_build_object('source', lot.source, 'ends', lot.ends, 'available', ${balanceOf('k.id', 'available')})
                           ORDER BY lot.source, lot.ends)
           FROM ${lotsOf('k.id', "e.source <> 'overage'")}), '[]') AS lots,
           ${selectOverage('k.id')} AS overage
         FROM unnest($1::text[]) AS k(id) LEFT JOIN accounts a ON a.id = k.id
         LEFT JOIN billing_profiles p ON p.account_id = k.id`,
  values: [accountIds],
});

type FoundBooks = Omit<Books, 'ceiling'> & { planStatus: AccountRecord['planStatus']; arrears: number };

/**
 * Reads the books of accounts and locks them until the transaction ends. Locks in order of ids, so that two transactions
 * cannot deadlock. The lock is a statement of its own, so that the books are read as they are after it was granted.
 */
export async function lockBooks(tx: Tx, accountIds: string[]): Promise<Books[]> {
  const sorted = [...accountIds].sort();
  const [, { rows }] = await Promise.all(
    sendTogether(tx.client, () => [tx.client.query(lockAccounts(sorted)), tx.client.query<FoundBooks>(selectBooks(sorted))] as const),
  );
  return rows.map(({ arrears, ...books }) => ({ ...books, ceiling: Math.max(0, countCeiling(books) - arrears) }));
}

/** The same for one account, with the credits that a job holds; `held` is null if the job has reserved none. */
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

/** What an account ran over in each month. */
export async function findOverage(orm: Orm, accountId: string): Promise<OverageLot[]> {
  const { rows } = await orm.execute<{ lots: OverageLot[] }>(
    sql`SELECT ${sql.raw(selectOverage('k.id'))} AS lots FROM (SELECT ${accountId}::text AS id) k`,
  );
  return rows[0]?.lots ?? [];
}

/** What was granted for a month. Call it after locking the books. */
export async function countGranted(tx: Tx, accountId: string, month: number): Promise<number> {
  const { rows } = await tx.client.query<{ granted: number }>(
    `SELECT coalesce(-sum(amount), 0)::int AS granted FROM credit_entries
     WHERE account_id = $1 AND bucket = 'issued' AND source = 'included' AND ends = $2`,
    [accountId, month],
  );
  return rows[0]?.granted ?? 0;
}

/** Whether the books have a movement with this key. Call it after locking the books. */
export async function hasMovement(tx: Tx, accountId: string, key: string): Promise<boolean> {
  const { rowCount } = await tx.client.query('SELECT 1 FROM credit_movements WHERE account_id = $1 AND key = $2', [accountId, key]);
  return rowCount !== 0;
}

/** What is neither spent nor expired, in every lot. Call it after locking the books. */
export async function listRemainingCredits(tx: Tx, accountId: string): Promise<RemainingCredits[]> {
  const { rows } = await tx.client.query<RemainingCredits>(
    `SELECT lot.source, lot.ends, each.bucket, each.amount FROM ${lotsOf('$1')}, LATERAL (VALUES
       ('available', ${balanceOf('$1', 'available')}), ('reserved', ${balanceOf('$1', 'reserved')})) AS each(bucket, amount)
     ORDER BY each.bucket, lot.source, lot.ends`,
    [accountId],
  );
  return rows;
}

/** What a movement has let expire. */
export async function sumExpired(tx: Tx, accountId: string, key: string): Promise<number> {
  const { rows } = await tx.client.query<{ amount: number }>(
    "SELECT coalesce(sum(amount), 0)::int AS amount FROM credit_entries WHERE account_id = $1 AND key = $2 AND bucket = 'expired'",
    [accountId, key],
  );
  return rows[0]?.amount ?? 0;
}

export interface AccountMovements {
  accountId: string;
  movements: Movement[];
}

/** Writes movements; the transaction must have locked the books. Constraints refuse what was planned without the lock. */
export async function insertMovements(tx: Tx, planned: AccountMovements[]): Promise<void> {
  const moved = planned.flatMap(({ accountId, movements }) => movements.map((movement) => ({ accountId, at: tx.at, ...movement })));
  if (moved.length === 0) return;
  await tx.orm.insert(creditMovements).values(moved.map(({ shifts: _, ...movement }) => movement));
  // A trigger sets the number and the balance.
  const unnumbered = { seq: 0, balance: 0 };
  const entries = moved.flatMap(({ accountId, key, at, shifts }) =>
    listAmounts(shifts).map((part) => ({ accountId, key, at, ...part, ...unnumbered })),
  );
  await tx.orm.insert(creditEntries).values(entries);
}

/** One for each bucket of a lot, also if several shifts are about it. */
function listAmounts(shifts: Movement['shifts']) {
  const parts = shifts.flatMap(({ source, ends, from, to, amount }) => [
    { source, ends, bucket: from, amount: -amount },
    { source, ends, bucket: to, amount },
  ]);
  const amounts = new Map<string, (typeof parts)[number]>();
  for (const part of parts) {
    const name = `${part.source} ${part.ends} ${part.bucket}`;
    amounts.set(name, { ...part, amount: part.amount + (amounts.get(name)?.amount ?? 0) });
  }
  return [...amounts.values()];
}

/** Open reservations whose jobs are over or gone. Those younger than an hour are left out: their job may be about to close them. */
export async function listStuckReservations(pool: pg.Pool): Promise<{ accountId: string; jobId: string }[]> {
  const { rows } = await pool.query<{ accountId: string; jobId: string }>(
    `SELECT m.account_id AS "accountId", m.ref AS "jobId" FROM credit_movements m
     WHERE m.kind = 'reserve' AND m.at < now() - interval '1 hour'
       AND NOT EXISTS (SELECT 1 FROM credit_movements c WHERE c.account_id = m.account_id AND c.key = $1 || m.ref)
       AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = m.ref AND j.finished_at IS NULL)
       -- With an account that is deleted, what its jobs held is forfeited.
       AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = m.account_id AND a.deleted_at IS NOT NULL)
     ORDER BY m.at LIMIT 1000`,
    [closeKey('')],
  );
  return rows;
}

/** Accounts that have not got this month's grant, in order of ids, after a given id. */
export async function listAccountsWithoutGrant(pool: pg.Pool, after: string, limit: number, at: Date): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT a.id FROM accounts a
     WHERE a.id > $1 AND a.deleted_at IS NULL AND (a.kind = 'default' OR a.plan = ANY ($4))
       AND NOT (a.plan = ANY ($4) AND a.plan_status = 'past_due') AND NOT EXISTS (
       SELECT 1 FROM credit_entries e WHERE e.account_id = a.id AND e.bucket = 'issued' AND e.source = 'included' AND e.ends >= $3)
     ORDER BY a.id LIMIT $2`,
    [after, limit, monthOf(at), listGrantingPlans('developer')],
  );
  return rows.map(({ id }) => id);
}

/** SQL: an account's lots that can be spent in the month of `at`, as `LotBalances`. */
export const selectLotBalances = (account: string, at: string) =>
  `(SELECT coalesce(json_agg(json_build_object('source', lot.source, 'available', ${balanceOf(account, 'available')},
             'reserved', ${balanceOf(account, 'reserved')}, 'spent', ${balanceOf(account, 'spent')},
             'settled', CASE WHEN lot.source = 'overage' THEN ${balanceOf(account, 'settled')} ELSE 0 END,
             'spentBefore', ${balanceOf(account, 'spent', `e.at < date_trunc('month', ${at}, 'UTC')`, 'e.at DESC, e.seq DESC')})), '[]')
    FROM ${lotsOf(account, `e.ends >= to_char(${at} AT TIME ZONE 'UTC', 'YYYYMM')::integer`)})`;

/** SQL: the credits an account has left in a month, given as 202611; negative in overage. */
export const selectRemaining = (account: string, month: string) =>
  `(SELECT coalesce(sum(CASE lot.source WHEN 'overage' THEN - ${balanceOf(account, 'reserved')} - ${balanceOf(account, 'spent')}
                       ELSE ${balanceOf(account, 'available')} END), 0)
    FROM ${lotsOf(account, `(e.ends >= ${month} OR e.source = 'overage')`)})`;
