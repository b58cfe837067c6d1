import type pg from 'pg';
import { type AccountKind, countMonthly, type Plan } from '../../core/credits/priceList.ts';
import { type Credits, type LotBalances, showCredits } from '../../core/credits/showCredits.ts';
import { selectLotBalances } from '../../store/pg/credits.ts';

/** What `me` shows, at any time. */
export async function readCredits(pool: pg.Pool, accountId: string, at = new Date()): Promise<Credits> {
  const { rows } = await pool.query<{ plan: Plan; kind: AccountKind; planStatus: string; lots: LotBalances[] }>(
    `SELECT a.plan, a.kind, a.plan_status AS "planStatus", ${selectLotBalances('a.id', '$2::timestamptz')} AS lots FROM accounts a WHERE a.id = $1`,
    [accountId, at],
  );
  const { lots, ...account } = rows[0] as (typeof rows)[number];
  return showCredits(countMonthly(account), lots);
}
