import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

// Tried without limit: half an account must not stay.
const { revokeAccess, endAccountWork, deleteWorkbooks, forfeitCredits, removeAccount } = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * Removes an account that nobody can use any more, with all that it has. Each step does what is left to do, so it can be run
 * again after any interruption. It cannot be cancelled.
 */
export async function deleteAccount(jobId: string): Promise<string> {
  return CancellationScope.nonCancellable(async () => {
    await revokeAccess(jobId);
    do {
      await endAccountWork(jobId);
      while (await deleteWorkbooks(jobId));
      await forfeitCredits(jobId);
    } while (!(await removeAccount(jobId)));
    return 'deleted';
  });
}
