import { sumHeld } from '../../core/credits/planClosing.ts';
import { creditsSpent } from '../../core/journal/jobNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { closeReservation } from './closeReservation.ts';

/** Spends a job's reserved credits, in the transaction of its result. Returns the amount, also when repeated. */
export async function settleCredits(tx: Tx, jobId: string, accountId: string): Promise<number> {
  const held = await closeReservation(tx, jobId, accountId, 'settle');
  if (!held) throw new Error(`${jobId} has reserved no credits to settle.`);
  if (held.closed === 'release') throw new Error(`The credits that ${jobId} had reserved were given back; they cannot be settled.`);
  const amount = sumHeld(held);
  if (held.closed === null) tx.note(held.workbookId ?? accountId, creditsSpent(amount));
  return amount;
}
