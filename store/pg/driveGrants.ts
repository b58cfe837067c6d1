import { and, eq, lt, sql } from 'drizzle-orm';
import { driveGrants } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type DriveGrantRecord = typeof driveGrants.$inferSelect;
type GrantKey = Pick<DriveGrantRecord, 'userId' | 'accountId' | 'provider'>;

const isGrant = ({ userId, accountId, provider }: GrantKey) =>
  and(eq(driveGrants.userId, userId), eq(driveGrants.accountId, accountId), eq(driveGrants.provider, provider));

export async function findDriveGrant(orm: Orm, key: GrantKey): Promise<DriveGrantRecord | null> {
  const [grant] = await orm.select().from(driveGrants).where(isGrant(key));
  return grant ?? null;
}

/** False: an authorization that began later, or this very one, has been finished already. */
export async function putDriveGrant(tx: Tx, grant: DriveGrantRecord, begunAt: Date): Promise<boolean> {
  const { userId: _u, accountId: _a, provider: _p, ...values } = grant;
  const rows = await tx.orm
    .insert(driveGrants)
    .values(grant)
    .onConflictDoUpdate({
      target: [driveGrants.userId, driveGrants.accountId, driveGrants.provider],
      set: values,
      setWhere: lt(driveGrants.authorizedAt, begunAt),
    })
    .returning({ provider: driveGrants.provider });
  return rows.length === 1;
}

/** Replaces the tokens, or removes them; false if they have changed since they were read. */
export async function replaceDriveTokens(orm: Orm, grant: DriveGrantRecord, tokens: Buffer | null): Promise<boolean> {
  const rows = await orm
    .update(driveGrants)
    .set({ tokens, updatedAt: sql`now()` })
    .where(and(isGrant(grant), grant.tokens === null ? sql`false` : eq(driveGrants.tokens, grant.tokens)))
    .returning({ provider: driveGrants.provider });
  return rows.length === 1;
}
