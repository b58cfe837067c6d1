import type { Tx } from '../../store/pg/commit.ts';
import { closeReservation } from './closeReservation.ts';

/**
 * Returns a job's reserved credits after a failure; those of expired lots expire. Safe to call on every way out: settled
 * credits stay settled.
 */
export async function releaseCredits(tx: Tx, jobId: string, accountId: string): Promise<'released' | 'settled' | 'nothing_reserved'> {
  const held = await closeReservation(tx, jobId, accountId, 'release');
  if (!held) return 'nothing_reserved';
  return held.closed === 'settle' ? 'settled' : 'released';
}
