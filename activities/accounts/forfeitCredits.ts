import { forfeitKey, planForfeit } from '../../core/credits/planForfeit.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import { hasMovement, insertMovements, listRemainingCredits, lockBooks } from '../../store/pg/credits.ts';
import type { Services } from '../../store/services.ts';
import { inClosedAccount } from './inClosedAccount.ts';

/** What is left of the account's credits expires, so that its books are balanced when they are closed. */
export async function forfeitCredits(services: Services, jobId: string): Promise<void> {
  await inClosedAccount(services, jobId, 'credits', async ({ accountId, job }) => {
    await commit(services, job.actor as Actor, async (tx) => {
      await lockBooks(tx, [accountId]);
      if (await hasMovement(tx, accountId, forfeitKey)) return;
      const movement = planForfeit(await listRemainingCredits(tx, accountId));
      if (movement) await insertMovements(tx, [{ accountId, movements: [movement] }]);
    });
  });
}
