import type pg from 'pg';
import { type BookedCredits, type Credits, showCredits } from '../../core/pricing/credits.ts';
import { type Plan, plans } from '../../core/pricing/priceList.ts';
import type { Tx } from './commit.ts';

const plansJson = JSON.stringify(Object.fromEntries(Object.entries(plans).map(([plan, { includedCredits }]) => [plan, includedCredits])));
/** A month that no clock reaches. */
const never = 999_912;

export interface Reservation {
  accountId: string;
  workbookId: string | null;
  jobId: string;
  amount: number;
}

/** Holds credits for a job, the plan's before bought ones; first sees to it that this month's grant is in the books. */
export async function insertReservation(tx: Tx, reservation: Reservation): Promise<'reserved' | 'no_credits' | 'released'> {
  const { accountId, workbookId, jobId, amount } = reservation;
  const { rows } = await tx.client.query<{ outcome: 'reserved' | 'no_credits' | 'released' }>({
    name: 'svc_reserve_credits',
    text: 'SELECT svc_reserve_credits($1, $2, $3, $4, $5, $6) AS outcome',
    values: [accountId, workbookId, jobId, amount, plansJson, tx.at],
  });
  return (rows[0] as (typeof rows)[number]).outcome;
}

export interface ClosedReservation {
  /** How it had ended before; null when it was ended now. */
  was: 'settle' | 'release' | null;
  amount: number;
  workbookId: string | null;
}

/** Ends a job's reservation, unless it has ended before; null when the job has none. */
export async function closeReservation(
  tx: Tx,
  jobId: string,
  accountId: string,
  kind: 'settle' | 'release',
): Promise<ClosedReservation | null> {
  const { rows } = await tx.client.query<ClosedReservation>({
    name: 'svc_close_credits',
    text: 'SELECT was, amount, workbook_id AS "workbookId" FROM svc_close_credits($1, $2, $3, $4)',
    values: [accountId, jobId, kind, tx.at],
  });
  return rows[0] ?? null;
}

/** Reservations that nobody will end any more: their jobs are over or gone. Young ones are left alone, whoever made them. */
export async function listStuckReservations(pool: pg.Pool): Promise<{ accountId: string; jobId: string }[]> {
  const { rows } = await pool.query<{ accountId: string; jobId: string }>(
    `SELECT m.account_id AS "accountId", m.ref AS "jobId" FROM credit_movements m
     WHERE m.kind = 'reserve' AND m.at < now() - interval '1 hour'
       AND NOT EXISTS (SELECT 1 FROM credit_movements c WHERE c.account_id = m.account_id AND c.key = 'close:' || m.ref)
       AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = m.ref AND j.finished_at IS NULL)
     ORDER BY m.at LIMIT 1000`,
  );
  return rows;
}

/** False when the purchase is in the books already. Bought credits do not end. */
export async function insertPurchase(tx: Tx, purchase: { accountId: string; ref: string; amount: number }): Promise<boolean> {
  const { rows } = await tx.client.query<{ added: boolean }>('SELECT svc_buy_credits($1, $2, $3, $4, $5) AS added', [
    purchase.accountId,
    purchase.ref,
    purchase.amount,
    never,
    tx.at,
  ]);
  return rows[0]?.added === true;
}

/** The accounts after one, in order of their ids, whose grant of the month is not in the books yet. */
export async function listAccountsWithoutGrant(pool: pg.Pool, after: string, limit: number, at: Date): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM svc_credits_due($1, $2, $3)', [after, limit, at]);
  return rows.map(({ id }) => id);
}

/** This month's grant, and the end of what was left of the months before; nothing for accounts that have it. */
export async function insertGrants(tx: Tx, accountIds: string[]): Promise<void> {
  await tx.client.query('SELECT svc_grant_credits($1, $2, $3)', [accountIds, plansJson, tx.at]);
}

/** Writes nothing: a month without its grant shows what the plan includes. */
export async function readCredits(pool: pg.Pool, accountId: string, at = new Date()): Promise<Credits> {
  const { rows } = await pool.query<BookedCredits & { plan: Plan }>({
    name: 'credits',
    text: 'SELECT a.plan, c.* FROM accounts a CROSS JOIN LATERAL svc_read_credits(a.id, $2) c WHERE a.id = $1',
    values: [accountId, at],
  });
  const row = rows[0] as (typeof rows)[number];
  return showCredits(row.plan, row);
}
