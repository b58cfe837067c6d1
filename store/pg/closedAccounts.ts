import { and, eq, isNotNull } from 'drizzle-orm';
import type pg from 'pg';
import { accounts } from '../../schema/index.ts';
import type { Tx } from './commit.ts';

/** Accounts whose deletion has begun: those with `deleted_at`. */

/** From the commit on nobody can use the account, and nothing is charged for it. */
export async function closeAccount(tx: Tx, accountId: string): Promise<void> {
  await tx.orm.update(accounts).set({ deletedAt: tx.at }).where(eq(accounts.id, accountId));
  await tx.client.query("UPDATE charges SET status = 'dropped' WHERE account_id = $1 AND status = 'open'", [accountId]);
}

/** Until the transaction ends, no row is added that refers to the account. */
export async function lockClosedAccount(tx: Tx, accountId: string): Promise<void> {
  await tx.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.id, accountId), isNotNull(accounts.deletedAt)))
    .for('update');
}

/** Ends keys and tokens, and removes what else lets somebody in or sets something off. */
export async function revokeAccess(tx: Tx, accountId: string): Promise<void> {
  await tx.client.query('UPDATE credentials SET revoked_at = $2 WHERE account_id = $1 AND revoked_at IS NULL', [accountId, tx.at]);
  const ofWorkbooks = 'workbook_id IN (SELECT id FROM workbooks WHERE account_id = $1)';
  await tx.client.query(`UPDATE file_links SET next_look_at = NULL WHERE ${ofWorkbooks} AND next_look_at IS NOT NULL`, [accountId]);
  await tx.client.query(`DELETE FROM uploads WHERE ${ofWorkbooks}`, [accountId]);
  for (const table of ['mcp_sessions', 'drive_grants', 'billing_sessions'])
    await tx.client.query(`DELETE FROM ${table} WHERE account_id = $1`, [accountId]);
}

/** All workbooks of an account, also those that were deleted before it. */
export async function listWorkbooksOf(pool: pg.Pool, accountId: string, limit: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM workbooks WHERE account_id = $1 ORDER BY id LIMIT $2', [
    accountId,
    limit,
  ]);
  return rows.map(({ id }) => id);
}

export async function countWorkbooksOf(client: Pick<pg.PoolClient, 'query'>, accountId: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM workbooks WHERE account_id = $1', [accountId]);
  return rows[0]?.n ?? 0;
}
