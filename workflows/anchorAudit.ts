import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { anchorChains } = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
});

export interface AnchorProgress {
  after: string;
  moved: number;
  broken: number;
  /** Continues as a new run after so many pages, to keep histories short. */
  pagesPerRun: number;
}

/** Anchors all audit chains that have grown. Scheduled; returns how many were anchored and how many are broken. */
export async function anchorAudit(
  progress: AnchorProgress = { after: '', moved: 0, broken: 0, pagesPerRun: 100 },
): Promise<{ moved: number; broken: number }> {
  let { after, moved, broken } = progress;
  for (let page = 0; page < progress.pagesPerRun; page++) {
    const part = await anchorChains(after);
    moved += part.moved;
    broken += part.broken;
    if (part.next === null) return { moved, broken };
    after = part.next;
  }
  return continueAsNew<typeof anchorAudit>({ ...progress, after, moved, broken });
}
