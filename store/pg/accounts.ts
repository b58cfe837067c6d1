import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import type pg from 'pg';
import { accounts } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Database, Orm } from './database.ts';
import { defineLookup } from './lookups.ts';

export type AccountRecord = typeof accounts.$inferSelect;

const live = isNull(accounts.deletedAt);

/** The user's accounts: the default one first, then the developer accounts by age. */
export async function listOwnedAccounts(orm: Orm, userId: string): Promise<AccountRecord[]> {
  return orm
    .select()
    .from(accounts)
    .where(and(eq(accounts.ownerId, userId), live))
    .orderBy(sql`${accounts.kind} <> 'default'`, asc(accounts.id));
}

/** Of all accounts, by id. */
export async function listAccountIds(pool: pg.Pool, after: string, limit: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM accounts WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2', [
    after,
    limit,
  ]);
  return rows.map(({ id }) => id);
}

export async function findAccount(orm: Orm, accountId: string): Promise<AccountRecord | null> {
  const [row] = await orm
    .select()
    .from(accounts)
    .where(and(eq(accounts.id, accountId), live));
  return row ?? null;
}

export async function insertAccount(tx: Tx, account: typeof accounts.$inferInsert): Promise<AccountRecord> {
  const [row] = await tx.orm.insert(accounts).values(account).returning();
  return row as AccountRecord;
}

const accountOf = (what: 'jobs' | 'tables' | 'webhooks') =>
  defineLookup<{ accountId: string }>(`account_of_${what}`, `SELECT x.account_id AS "accountId" FROM ${what} x WHERE x.id = k.a LIMIT 1`);
const lookups = { jobs: accountOf('jobs'), tables: accountOf('tables'), webhooks: accountOf('webhooks') };

/** The account of a job, table or webhook, for work that knows only its id. */
export async function findAccountOf(db: Database, what: keyof typeof lookups, id: string): Promise<string | null> {
  return (await db.lookUp(lookups[what], id))?.accountId ?? null;
}
