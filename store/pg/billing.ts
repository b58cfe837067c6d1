import { and, eq, gt, sql } from 'drizzle-orm';
import { accounts, billingEvents, billingProfiles, billingSessions, payments } from '../../schema/index.ts';
import type { AccountRecord } from './accounts.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type BillingProfile = typeof billingProfiles.$inferSelect;
export type BillingSession = typeof billingSessions.$inferSelect;
export type Payment = typeof payments.$inferSelect;

/** Null: the account never paid. */
export async function findProfile(orm: Orm, accountId: string): Promise<BillingProfile | null> {
  const [row] = await orm.select().from(billingProfiles).where(eq(billingProfiles.accountId, accountId));
  return row ?? null;
}

/** The account, and how it pays, as they are until the transaction ends. */
export async function lockBilling(tx: Tx, accountId: string): Promise<{ account: AccountRecord; profile: BillingProfile | null } | null> {
  const [account] = await tx.orm
    .select()
    .from(accounts)
    .where(and(eq(accounts.id, accountId), sql`${accounts.deletedAt} IS NULL`))
    // Others may refer to the account meanwhile: a reservation that has locked the books makes a charge due.
    .for('no key update');
  return account ? { account, profile: await findProfile(tx.orm, accountId) } : null;
}

export async function putProfile(
  tx: Tx,
  accountId: string,
  fields: Partial<Omit<typeof billingProfiles.$inferInsert, 'accountId' | 'updatedAt'>>,
): Promise<void> {
  await tx.orm
    .insert(billingProfiles)
    .values({ ...fields, accountId, updatedAt: tx.at })
    .onConflictDoUpdate({ target: billingProfiles.accountId, set: { ...fields, updatedAt: tx.at } });
}

export async function setPlan(tx: Tx, accountId: string, fields: Pick<AccountRecord, 'plan' | 'planStatus'>): Promise<void> {
  await tx.orm.update(accounts).set(fields).where(eq(accounts.id, accountId));
}

export async function insertBillingSession(tx: Tx, session: typeof billingSessions.$inferInsert): Promise<void> {
  await tx.orm.insert(billingSessions).values(session);
}

export async function findBillingSession(orm: Orm, idHash: Buffer): Promise<BillingSession | null> {
  const [row] = await orm.select().from(billingSessions).where(eq(billingSessions.idHash, idHash));
  return row ?? null;
}

/** False: it has ended already. */
export async function endBillingSession(tx: Tx, idHash: Buffer, status: 'completed' | 'canceled'): Promise<boolean> {
  const { rowCount } = await tx.orm
    .update(billingSessions)
    .set({ status })
    .where(and(eq(billingSessions.idHash, idHash), eq(billingSessions.status, 'open'), gt(billingSessions.expiresAt, tx.at)));
  return rowCount === 1;
}

/** False: it is booked already. */
export async function insertPayment(tx: Tx, payment: Omit<Payment, 'at'>): Promise<boolean> {
  const { rowCount } = await tx.orm
    .insert(payments)
    .values({ ...payment, at: tx.at })
    .onConflictDoNothing();
  return rowCount === 1;
}

/**
 * The accounts that use the card of one, by id. They are others than the transaction is about: it sees all accounts for this one
 * statement, and may change those from then on.
 */
export async function listSharers(tx: Tx, payerId: string): Promise<string[]> {
  await tx.client.query("SELECT set_config('svc.accounts', '*', true)");
  const rows = await tx.orm
    .select({ id: billingProfiles.accountId })
    .from(billingProfiles)
    .where(eq(billingProfiles.sharesWith, payerId))
    .orderBy(billingProfiles.accountId);
  const sharers = rows.map(({ id }) => id);
  for (const id of [payerId, ...sharers]) await tx.admitAccount(id);
  return sharers;
}

/** The account that a customer of the provider stands for. */
export async function findCustomersAccount(orm: Orm, customerId: string): Promise<string | null> {
  const [row] = await orm
    .select({ id: accounts.id })
    .from(billingProfiles)
    .innerJoin(accounts, eq(accounts.id, billingProfiles.accountId))
    .where(and(eq(billingProfiles.customerId, customerId), sql`${accounts.deletedAt} IS NULL`));
  return row?.id ?? null;
}

export async function hasBillingEvent(orm: Orm, eventId: string): Promise<boolean> {
  const found = await orm.select({ id: billingEvents.eventId }).from(billingEvents).where(eq(billingEvents.eventId, eventId));
  return found.length > 0;
}

/** False: it was applied already. */
export async function insertBillingEvent(tx: Tx, event: Omit<typeof billingEvents.$inferInsert, 'at'>): Promise<boolean> {
  const { rowCount } = await tx.orm
    .insert(billingEvents)
    .values({ ...event, at: tx.at })
    .onConflictDoNothing();
  return rowCount === 1;
}
