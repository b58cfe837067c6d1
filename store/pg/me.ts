import { type AccountKind, countMonthly } from '../../core/credits/priceList.ts';
import { type Credits, type LotBalances, showCredits } from '../../core/credits/showCredits.ts';
import { selectLotBalances } from './credits.ts';
import type { Database } from './database.ts';
import { defineLookup } from './lookups.ts';

export interface MeRow {
  userCreatedAt: Date;
  workspaceId: string | null;
  workspaceName: string | null;
  plan: 'free' | 'payg' | 'solo' | 'pro';
  planStatus: 'none' | 'trialing' | 'active' | 'past_due' | 'canceled';
  credits: Credits;
}

type FoundMe = Omit<MeRow, 'credits'> & { kind: AccountKind; lots: LotBalances[] };

/** By user id and account id. */
const me = defineLookup<FoundMe>(
  'me',
  `SELECT u.created_at AS "userCreatedAt", a.kind, a.plan, a.plan_status AS "planStatus", w.id AS "workspaceId", w.name AS "workspaceName",
     ${selectLotBalances('a.id', 'now()')} AS lots
   FROM users u JOIN accounts a ON a.id = k.b
   LEFT JOIN LATERAL (SELECT id, name FROM workspaces WHERE account_id = a.id AND deleted_at IS NULL ORDER BY id LIMIT 1) w ON true
   WHERE u.id = k.a LIMIT 1`,
);

/** What the operation `me` shows beyond the credential, in one look-up. */
export async function findMe(db: Database, userId: string, accountId: string): Promise<MeRow> {
  const { kind, lots, ...row } = (await db.lookUp(me, userId, accountId)) as FoundMe;
  return { ...row, credits: showCredits(countMonthly({ ...row, kind }), lots) };
}
