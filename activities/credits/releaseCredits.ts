import type { Tx } from '../../store/pg/commit.ts';
import { closeReservation } from '../../store/pg/credits.ts';

/**
 * Gives back what a job has reserved, for work that failed; what comes from a month that is over expires. Safe to call on
 * every way out: what was settled stays settled.
 */
export async function releaseCredits(tx: Tx, jobId: string, accountId: string): Promise<'released' | 'settled' | 'nothing_reserved'> {
  const closed = await closeReservation(tx, jobId, accountId, 'release');
  if (!closed) return 'nothing_reserved';
  return closed.was === 'settle' ? 'settled' : 'released';
}
