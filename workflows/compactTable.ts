import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { compactTable: compact } = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 5 },
});

const mostRounds = 20;

/**
 * Folds a table's log and deltas until it is within the limits. Where a large edit or a restore came in between it tries
 * again; past the last round the sweep comes back to it. Says what each round did.
 */
export async function compactTable(tableId: string): Promise<string[]> {
  const rounds: string[] = [];
  while (rounds.length < mostRounds) {
    const outcome = await compact(tableId);
    rounds.push(outcome);
    if (outcome === 'nothing') break;
    if (outcome === 'moved') await sleep(1000 * rounds.length);
  }
  return rounds;
}
