import { countOwed, type OwedOverage } from '../../core/billing/overage.ts';
import { findProfile } from '../../store/pg/billing.ts';
import { findOverage } from '../../store/pg/credits.ts';
import type { Orm } from '../../store/pg/database.ts';

/** What an account owes for work beyond its credits: its stored arrears, and what follows from the books. */
export async function readOverage(orm: Orm, accountId: string): Promise<OwedOverage> {
  const [profile, lots] = [await findProfile(orm, accountId), await findOverage(orm, accountId)];
  return countOwed(profile?.arrears ?? 0, lots, new Date());
}
