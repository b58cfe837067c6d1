import { and, desc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { accounts, members, sessions, userIdentities, users, workspaces } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Database, Orm } from './database.ts';
import { defineLookup } from './lookups.ts';

export type UserRecord = typeof users.$inferSelect;

const hasEmail = (email: string) => sql`lower(${users.email}) = lower(${email})`;

/** Prefers the user whose address an issuer has verified over one who only typed it in at sign-up. */
export async function findUserByEmail(orm: Orm, email: string): Promise<UserRecord | null> {
  const [row] = await orm
    .select()
    .from(users)
    .where(hasEmail(email))
    .orderBy(desc(users.emailVerified), sql`${users.passwordHash} IS NOT NULL`, users.id)
    .limit(1);
  return row ?? null;
}

/** The user who logs in with this address and a password. */
export async function findUserByLogin(orm: Orm, email: string): Promise<UserRecord | null> {
  const [row] = await orm
    .select()
    .from(users)
    .where(and(hasEmail(email), isNotNull(users.passwordHash)));
  return row ?? null;
}

export async function findUsers(orm: Orm, ids: string[]): Promise<UserRecord[]> {
  return ids.length === 0 ? [] : orm.select().from(users).where(inArray(users.id, ids));
}

export async function findUserByIdentity(orm: Orm, issuer: string, subject: string): Promise<UserRecord | null> {
  const [row] = await orm
    .select({ user: users })
    .from(userIdentities)
    .innerJoin(users, eq(users.id, userIdentities.userId))
    .where(and(eq(userIdentities.issuer, issuer), eq(userIdentities.subject, subject)));
  return row?.user ?? null;
}

export async function insertUser(tx: Tx, user: typeof users.$inferInsert): Promise<UserRecord> {
  const [row] = await tx.orm.insert(users).values(user).returning();
  return row as UserRecord;
}

export async function insertIdentity(tx: Tx, identity: typeof userIdentities.$inferInsert): Promise<void> {
  await tx.orm.insert(userIdentities).values(identity);
}

export async function insertSession(tx: Tx, session: typeof sessions.$inferInsert): Promise<void> {
  await tx.orm.insert(sessions).values(session);
}

export async function revokeSession(tx: Tx, session: typeof sessions.$inferInsert): Promise<void> {
  await tx.orm
    .insert(sessions)
    .values({ ...session, revokedAt: tx.at })
    .onConflictDoUpdate({ target: sessions.jti, set: { revokedAt: sql`coalesce(${sessions.revokedAt}, ${tx.at})` } });
}

export interface SessionUser {
  userId: string;
  email: string;
  userName: string | null;
  accountId: string;
  accountName: string;
  /** All accounts that the user owns or is a member of. */
  accountIds: string[];
  known: boolean;
  revoked: boolean;
  /** Null for a session that is not known. */
  expiresAt: Date | null;
}

/** By session id and user id. */
const sessionUser = defineLookup<SessionUser>(
  'session_user',
  `SELECT u.id AS "userId", u.email, u.name AS "userName", a.id AS "accountId", a.name AS "accountName",
     ARRAY(SELECT o.id FROM accounts o WHERE o.owner_id = u.id AND o.deleted_at IS NULL
           UNION SELECT entered.account_id FROM members m CROSS JOIN LATERAL (
             SELECT w.account_id FROM workspaces w JOIN accounts o ON o.id = w.account_id AND o.deleted_at IS NULL
             WHERE w.id = m.workspace_id LIMIT 1) AS entered
           WHERE m.user_id = u.id ORDER BY 1) AS "accountIds",
     s.jti IS NOT NULL AS known, s.revoked_at IS NOT NULL AS revoked, s.expires_at AS "expiresAt"
   FROM users u JOIN accounts a ON a.owner_id = u.id AND a.kind = 'default' LEFT JOIN sessions s ON s.jti = k.a
   WHERE u.id = k.b LIMIT 1`,
);

/** The user of a session with their default account and the state of the session, in one look-up. */
export async function findSessionUser(db: Database, jti: string, userId: string): Promise<SessionUser | null> {
  return db.lookUp(sessionUser, jti, userId);
}

/** Creates a new user's default account and personal workspace. */
export async function insertDefaultAccount(tx: Tx, home: { user: UserRecord; accountId: string; workspaceId: string }): Promise<void> {
  const name = home.user.name ?? home.user.email;
  await tx.orm.insert(accounts).values({ id: home.accountId, ownerId: home.user.id, name: name.slice(0, 120), kind: 'default' });
  await tx.orm.insert(workspaces).values({ id: home.workspaceId, accountId: home.accountId, name: 'Personal', kind: 'personal' });
  await tx.orm.insert(members).values({ workspaceId: home.workspaceId, userId: home.user.id, role: 'admin' });
}

export async function hasUsers(orm: Orm): Promise<boolean> {
  return (await orm.select({ id: users.id }).from(users).limit(1)).length > 0;
}
