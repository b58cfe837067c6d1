import { patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { collectVersions, collectBlobs, sweepDrafts } = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
});

/**
 * Removes versions that nothing needs, their files a day later, and files left by writers that were interrupted. Scheduled;
 * returns how much was removed.
 */
export async function collectGarbage(): Promise<Record<string, number>> {
  const { versions, manifests } = await collectVersions();
  let blobs = 0;
  let suspected = 0;
  for (let after: string | null = ''; after !== null; ) {
    const part: { removed: number; suspected: number; next: string | null } = await collectBlobs(after);
    blobs += part.removed;
    suspected += part.suspected;
    after = part.next;
  }
  if (!patched('sweep drafts')) return { versions, manifests, blobs, suspected };
  return { versions, manifests, blobs, suspected, drafts: await sweepDrafts() };
}
