import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { compactTable: compact } = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 5 },
});

const mostRounds = 20;

/**
 * Compacts a table until it is within the limits. Tries again when a large edit or a restore interferes; after the last round
 * it is left to the sweep. Returns what each round did.
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
