import type pg from 'pg';
import { type AccountKind, countIncluded, type Plan } from '../../core/credits/priceList.ts';
import { type Credits, type LotBalances, showCredits } from '../../core/credits/showCredits.ts';
import { selectLotBalances } from '../../store/pg/credits.ts';

/** What `me` shows, at any time. */
export async function readCredits(pool: pg.Pool, accountId: string, at = new Date()): Promise<Credits> {
  const { rows } = await pool.query<{ plan: Plan; kind: AccountKind; lots: LotBalances[] }>(
    `SELECT a.plan, a.kind, ${selectLotBalances('a.id', '$2::timestamptz')} AS lots FROM accounts a WHERE a.id = $1`,
    [accountId, at],
  );
  const { plan, kind, lots } = rows[0] as (typeof rows)[number];
  return showCredits(countIncluded(plan, kind), lots);
}
