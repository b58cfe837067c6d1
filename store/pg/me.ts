import type pg from 'pg';

export interface MeRow {
  userCreatedAt: Date;
  workspaceId: string | null;
  workspaceName: string | null;
  plan: 'free' | 'payg' | 'solo' | 'pro';
  planStatus: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled';
}

/** What `me` shows beyond the credential itself, in one look-up. */
export async function findMe(pool: pg.Pool, userId: string, accountId: string): Promise<MeRow> {
  const { rows } = await pool.query<MeRow>({
    name: 'me',
    text: `SELECT u.created_at AS "userCreatedAt", a.plan, a.plan_status AS "planStatus", w.id AS "workspaceId", w.name AS "workspaceName"
           FROM users u, accounts a
           LEFT JOIN LATERAL (SELECT id, name FROM workspaces WHERE account_id = a.id AND deleted_at IS NULL ORDER BY id LIMIT 1) w ON true
           WHERE u.id = $1 AND a.id = $2`,
    values: [userId, accountId],
  });
  return rows[0] as MeRow;
}
