import { creditsSpent } from '../../core/journal/jobNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { closeReservation } from '../../store/pg/credits.ts';

/** Spends what a job has reserved, in the transaction of its result. Says how much that is, the second time as well. */
export async function settleCredits(tx: Tx, jobId: string, accountId: string): Promise<number> {
  const closed = await closeReservation(tx, jobId, accountId, 'settle');
  if (!closed) throw new Error(`${jobId} has reserved no credits to settle.`);
  if (closed.was === 'release') throw new Error(`The credits that ${jobId} had reserved were given back; they cannot be settled.`);
  if (closed.was === null) tx.note(closed.workbookId ?? accountId, creditsSpent(closed.amount));
  return closed.amount;
}
