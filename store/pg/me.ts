import type { Database } from './database.ts';
import type { Lookup } from './lookups.ts';

export interface MeRow {
  userCreatedAt: Date;
  workspaceId: string | null;
  workspaceName: string | null;
  plan: 'free' | 'payg' | 'solo' | 'pro';
  planStatus: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled';
}

const me: Lookup<MeRow> = {
  name: 'me',
  text: `SELECT k.n, u.created_at AS "userCreatedAt", a.plan, a.plan_status AS "planStatus", w.id AS "workspaceId", w.name AS "workspaceName"
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(user_id, account_id, n)
         JOIN users u ON u.id = k.user_id JOIN accounts a ON a.id = k.account_id
         LEFT JOIN LATERAL (SELECT id, name FROM workspaces WHERE account_id = a.id AND deleted_at IS NULL ORDER BY id LIMIT 1) w ON true`,
};

/** What `me` shows beyond the credential itself, in one look-up. */
export async function findMe(db: Database, userId: string, accountId: string): Promise<MeRow> {
  return (await db.lookUp(me, userId, accountId)) as MeRow;
}
