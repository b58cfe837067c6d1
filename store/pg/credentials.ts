import { and, desc, eq, inArray, isNull, lt, max, or, sql } from 'drizzle-orm';
import { credentials, requestCounts } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Database, Orm } from './database.ts';
import { defineLookup } from './lookups.ts';

export type CredentialRecord = typeof credentials.$inferSelect;

/** A credential with the names of its user and account. Found in one look-up, because every request needs it. */
export interface KnownCredential {
  id: string;
  kind: 'access_token' | 'account_key';
  secretHash: string;
  userId: string;
  email: string;
  userName: string | null;
  accountId: string;
  accountName: string;
  scopes: string[];
  resource: string;
  rateLimitPerMinute: number;
  /** The tokens and keys by which it was minted, the first one first. */
  ancestors: { id: string; rateLimitPerMinute: number }[];
  /** Its own end or that of an ancestor, whichever is earlier; so is `revokedAt`. */
  expiresAt: Date | null;
  revokedAt: Date | null;
}

const knownCredential = defineLookup<KnownCredential>(
  'known_credential',
  `SELECT c.id, c.kind, c.secret_hash AS "secretHash", u.id AS "userId", u.email, u.name AS "userName",
                a.id AS "accountId", a.name AS "accountName", c.scopes, c.resource,
                c.rate_limit_per_minute AS "rateLimitPerMinute", coalesce(up.list, '[]') AS ancestors,
                least(c.expires_at, up.expires_at) AS "expiresAt", least(c.revoked_at, up.revoked_at) AS "revokedAt"
         FROM credentials c JOIN users u ON u.id = c.user_id JOIN accounts a ON a.id = c.account_id AND a.deleted_at IS NULL
         CROSS JOIN LATERAL (
           SELECT json_agg(json_build_object('id', p.id, 'rateLimitPerMinute', p.rate_limit_per_minute)
                           ORDER BY array_position(c.ancestors, p.id)) AS list,
             min(p.expires_at) AS expires_at, min(p.revoked_at) AS revoked_at
           FROM credentials p WHERE p.id = ANY (c.ancestors)) AS up
         WHERE c.id = k.a LIMIT 1`,
);

export async function findKnownCredential(db: Database, id: string): Promise<KnownCredential | null> {
  return db.lookUp(knownCredential, id);
}

export async function insertCredential(tx: Tx, credential: typeof credentials.$inferInsert): Promise<CredentialRecord> {
  const [row] = await tx.orm.insert(credentials).values(credential).returning();
  return row as CredentialRecord;
}

export interface CredentialFilter {
  kind: 'access_token' | 'account_key';
  accountId?: string;
  userId?: string;
  resource?: string;
  id?: string;
}

function matching(filter: CredentialFilter) {
  return and(
    eq(credentials.kind, filter.kind),
    filter.accountId === undefined ? undefined : eq(credentials.accountId, filter.accountId),
    filter.userId === undefined ? undefined : eq(credentials.userId, filter.userId),
    filter.resource === undefined ? undefined : eq(credentials.resource, filter.resource),
    filter.id === undefined ? undefined : eq(credentials.id, filter.id),
  );
}

export interface ListedCredential extends CredentialRecord {
  lastUsedAt: Date | null;
}

/** Newest first. `lastUsedAt` comes from the request counts, so that requests need not update the credential's row. */
export async function listCredentials(
  orm: Orm,
  filter: CredentialFilter,
  page: { before: string | null; limit: number },
): Promise<ListedCredential[]> {
  const rows = await orm
    .select()
    .from(credentials)
    .where(and(matching(filter), page.before === null ? undefined : lt(credentials.id, page.before)))
    .orderBy(desc(credentials.id))
    .limit(page.limit);
  const uses =
    rows.length === 0
      ? []
      : await orm
          .select({ id: requestCounts.credentialId, lastUsedAt: max(requestCounts.at) })
          .from(requestCounts)
          .where(
            inArray(
              requestCounts.credentialId,
              rows.map((row) => row.id),
            ),
          )
          .groupBy(requestCounts.credentialId);
  const lastUsed = new Map(uses.map((use) => [use.id, use.lastUsedAt]));
  return rows.map((row) => ({ ...row, lastUsedAt: lastUsed.get(row.id) ?? null }));
}

export async function findCredential(orm: Orm, filter: CredentialFilter & { id: string }): Promise<CredentialRecord | null> {
  const [row] = await orm.select().from(credentials).where(matching(filter));
  return row ?? null;
}

/** Revokes a credential and those that were minted by it; returns the ones that had not been revoked before. */
export async function revokeCredential(tx: Tx, { id, accountId }: CredentialRecord): Promise<CredentialRecord[]> {
  return tx.orm
    .update(credentials)
    .set({ revokedAt: tx.at })
    .where(
      and(
        eq(credentials.accountId, accountId),
        or(eq(credentials.id, id), sql`${id} = ANY (${credentials.ancestors})`),
        isNull(credentials.revokedAt),
      ),
    )
    .returning();
}

/** Revokes the credentials that are limited to a workspace; returns their ids. */
export async function revokeWorkspaceCredentials(tx: Tx, workspaceId: string): Promise<string[]> {
  const rows = await tx.orm
    .update(credentials)
    .set({ revokedAt: tx.at })
    .where(and(isNull(credentials.revokedAt), sql`${credentials.resource} = ${`workspace:${workspaceId}`}`))
    .returning({ id: credentials.id });
  return rows.map((row) => row.id);
}
