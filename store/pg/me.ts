import { type AccountKind, countMonthly } from '../../core/credits/priceList.ts';
import { type Credits, type LotBalances, showCredits } from '../../core/credits/showCredits.ts';
import { selectLotBalances } from './credits.ts';
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

type FoundMe = Omit<MeRow, 'credits'> & { kind: AccountKind; lots: LotBalances[] };

const me: Lookup<FoundMe> = {
  name: 'me',
  text: `SELECT k.n, u.created_at AS "userCreatedAt", a.kind, a.plan, a.plan_status AS "planStatus", w.id AS "workspaceId", w.name AS "workspaceName",
                ${selectLotBalances('a.id', 'now()')} AS lots
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(user_id, account_id, n)
         CROSS JOIN LATERAL (SELECT created_at FROM users WHERE id = k.user_id LIMIT 1) AS u
         CROSS JOIN LATERAL (SELECT id, kind, plan, plan_status FROM accounts WHERE id = k.account_id LIMIT 1) AS a
         LEFT JOIN LATERAL (SELECT id, name FROM workspaces WHERE account_id = a.id AND deleted_at IS NULL ORDER BY id LIMIT 1) w ON true`,
};

/** What the operation `me` shows beyond the credential, in one look-up. */
export async function findMe(db: Database, userId: string, accountId: string): Promise<MeRow> {
  const { kind, lots, ...row } = (await db.lookUp(me, userId, accountId)) as FoundMe;
  return { ...row, credits: showCredits(countMonthly({ ...row, kind }), lots) };
}
