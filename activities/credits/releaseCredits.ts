import type { Tx } from '../../store/pg/commit.ts';
import { closeReservation } from './closeReservation.ts';

/**
 * Gives back what a job has reserved, for work that failed; what comes from a month that is over expires. Safe to call on
 * every way out: what was settled stays settled.
 */
export async function releaseCredits(tx: Tx, jobId: string, accountId: string): Promise<'released' | 'settled' | 'nothing_reserved'> {
  const held = await closeReservation(tx, jobId, accountId, 'release');
  if (!held) return 'nothing_reserved';
  return held.closed === 'settle' ? 'settled' : 'released';
}
