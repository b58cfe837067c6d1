import type pg from 'pg';
import { type BookedCredits, type Credits, showCredits } from '../../core/pricing/credits.ts';

export interface MeRow {
  userCreatedAt: Date;
  workspaceId: string | null;
  workspaceName: string | null;
  plan: 'free' | 'payg' | 'solo' | 'pro';
  planStatus: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled';
  credits: Credits;
}

/** What `me` shows beyond the credential itself, in one look-up. */
export async function findMe(pool: pg.Pool, userId: string, accountId: string): Promise<MeRow> {
  const { rows } = await pool.query<MeRow & BookedCredits>({
    name: 'me',
    text: `SELECT u.created_at AS "userCreatedAt", a.plan, a.plan_status AS "planStatus", w.id AS "workspaceId", w.name AS "workspaceName", c.*
           FROM users u, accounts a
           LEFT JOIN LATERAL (SELECT id, name FROM workspaces WHERE account_id = a.id AND deleted_at IS NULL ORDER BY id LIMIT 1) w ON true
           CROSS JOIN LATERAL svc_read_credits(a.id, $3) c
           WHERE u.id = $1 AND a.id = $2`,
    values: [userId, accountId, new Date()],
  });
  const row = rows[0] as (typeof rows)[number];
  return { ...row, credits: showCredits(row.plan, row) };
}
