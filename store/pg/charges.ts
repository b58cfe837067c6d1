import { and, asc, eq, isNull, lt, or, sql } from 'drizzle-orm';
import type pg from 'pg';
import { monthAround } from '../../core/billing/period.ts';
import { monthOf } from '../../core/credits/month.ts';
import { autoTopup } from '../../core/credits/priceList.ts';
import { charges } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import { selectRemaining } from './credits.ts';
import type { Orm } from './database.ts';

export type ChargeRecord = typeof charges.$inferSelect;

/** False: what made it due has made one due before, or another of its kind is open. */
export async function insertCharge(tx: Tx, charge: Omit<typeof charges.$inferInsert, 'createdAt'>): Promise<boolean> {
  const { rowCount } = await tx.orm
    .insert(charges)
    .values({ ...charge, createdAt: tx.at })
    .onConflictDoNothing();
  return rowCount === 1;
}

/** Nobody pays for an account that is being deleted. */
const isOfLivingAccount = sql`EXISTS (SELECT 1 FROM accounts a WHERE a.id = ${charges.accountId} AND a.deleted_at IS NULL)`;

/** The open charges of an account that were not declined since a time, oldest first. */
export async function listDueCharges(orm: Orm, accountId: string, since: Date): Promise<ChargeRecord[]> {
  const isDue = or(isNull(charges.declinedAt), lt(charges.declinedAt, since));
  return orm
    .select()
    .from(charges)
    .where(and(eq(charges.accountId, accountId), eq(charges.status, 'open'), isDue, isOfLivingAccount))
    .orderBy(asc(charges.id));
}

/** As it is until the transaction ends. */
export async function lockCharge(tx: Tx, id: string): Promise<ChargeRecord | null> {
  const [row] = await tx.orm.select().from(charges).where(eq(charges.id, id)).for('update');
  return row ?? null;
}

export async function updateCharge(
  tx: Tx,
  id: string,
  fields: Partial<Pick<ChargeRecord, 'status' | 'declines' | 'declinedAt' | 'customerId'>>,
): Promise<void> {
  await tx.orm.update(charges).set(fields).where(eq(charges.id, id));
}

/** Writes down who is about to be asked. False: the charge has changed since it was read. */
export async function keepCustomer(tx: Tx, { id, declines }: ChargeRecord, customerId: string): Promise<boolean> {
  const isUnasked = and(eq(charges.status, 'open'), eq(charges.declines, declines), isNull(charges.customerId));
  const { rowCount } = await tx.orm
    .update(charges)
    .set({ customerId })
    .where(and(eq(charges.id, id), isUnasked));
  return rowCount === 1;
}

/** Gives up the charge of a kind that nobody can have paid. */
export async function dropUnasked(tx: Tx, accountId: string, kind: ChargeRecord['kind']): Promise<void> {
  const isUnasked = and(eq(charges.kind, kind), eq(charges.status, 'open'), isNull(charges.customerId));
  await tx.orm
    .update(charges)
    .set({ status: 'dropped' })
    .where(and(eq(charges.accountId, accountId), isUnasked));
}

/** Another card may pay what the one before did not. */
export async function retryCharges(tx: Tx, accountId: string): Promise<void> {
  await tx.orm
    .update(charges)
    .set({ declinedAt: null })
    .where(and(eq(charges.accountId, accountId), eq(charges.status, 'open')));
}

export async function hasOpenCharge(tx: Tx, accountId: string, kind: ChargeRecord['kind']): Promise<boolean> {
  const isOpen = and(eq(charges.accountId, accountId), eq(charges.kind, kind), eq(charges.status, 'open'));
  return (await tx.orm.select({ id: charges.id }).from(charges).where(isOpen)).length > 0;
}

async function listIds(pool: pg.Pool, text: string, values: unknown[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(text, values);
  return rows.map(({ id }) => id);
}

/** Accounts with open charges that were not declined since a time, by id. */
export async function listDebtors(pool: pg.Pool, after: string, limit: number, since: Date): Promise<string[]> {
  return listIds(
    pool,
    `SELECT DISTINCT c.account_id AS id FROM charges c JOIN accounts a ON a.id = c.account_id AND a.deleted_at IS NULL
     WHERE c.account_id > $1 AND c.status = 'open' AND (c.declined_at IS NULL OR c.declined_at < $3) ORDER BY 1 LIMIT $2`,
    [after, limit, since],
  );
}

/** Accounts whose period may have something to settle: a subscription that ended, arrears, or overage; by id. */
export async function listAccountsToSettle(pool: pg.Pool, after: string, limit: number, at: Date): Promise<string[]> {
  return listIds(
    pool,
    `SELECT p.account_id AS id FROM billing_profiles p JOIN accounts a ON a.id = p.account_id AND a.deleted_at IS NULL
     WHERE p.account_id > $1 AND (p.period_end <= $3 OR p.arrears > 0 OR EXISTS (
       SELECT 1 FROM credit_entries e WHERE e.account_id = p.account_id AND e.bucket = 'spent' AND e.source = 'overage'))
     ORDER BY 1 LIMIT $2`,
    [after, limit, at],
  );
}

/**
 * Accounts with auto-recharge that seem to have too little and have none under way, by id. Those that did no work this month are left
 * out: somebody who has only saved a card is not charged.
 */
export async function listLowAccounts(pool: pg.Pool, after: string, limit: number, at: Date): Promise<string[]> {
  return listIds(
    pool,
    `SELECT p.account_id AS id FROM billing_profiles p JOIN accounts a ON a.id = p.account_id AND a.deleted_at IS NULL
     WHERE p.account_id > $1 AND p.auto_topup AND ${selectRemaining('p.account_id', '$3')} < coalesce(p.topup_threshold, $4)
       AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.account_id = p.account_id AND c.kind = 'auto_topup' AND c.status = 'open')
       AND EXISTS (SELECT 1 FROM credit_movements m WHERE m.account_id = p.account_id AND m.kind = 'reserve' AND m.at >= $5)
     ORDER BY 1 LIMIT $2`,
    [after, limit, monthOf(at), autoTopup.threshold, monthAround(at).start],
  );
}
