import { type BookedCredits, type Credits, showCredits } from '../../core/pricing/credits.ts';
import type { Database } from './database.ts';
import type { Lookup } from './lookups.ts';

export interface MeRow {
  userCreatedAt: Date;
  workspaceId: string | null;
  workspaceName: string | null;
  plan: 'free' | 'payg' | 'solo' | 'pro';
  planStatus: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled';
  credits: Credits;
}

type BookedMe = Omit<MeRow, 'credits'> & BookedCredits;

const me: Lookup<BookedMe> = {
  name: 'me',
  text: `SELECT k.n, u.created_at AS "userCreatedAt", a.plan, a.plan_status AS "planStatus", w.id AS "workspaceId", w.name AS "workspaceName", c.*
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(user_id, account_id, n)
         JOIN users u ON u.id = k.user_id JOIN accounts a ON a.id = k.account_id
         LEFT JOIN LATERAL (SELECT id, name FROM workspaces WHERE account_id = a.id AND deleted_at IS NULL ORDER BY id LIMIT 1) w ON true
         CROSS JOIN LATERAL svc_read_credits(a.id, now()) c`,
};

/** What `me` shows beyond the credential itself, in one look-up. */
export async function findMe(db: Database, userId: string, accountId: string): Promise<MeRow> {
  const row = (await db.lookUp(me, userId, accountId)) as BookedMe;
  return { ...row, credits: showCredits(row.plan, row) };
}
