import { listUnanchoredChains } from '../../store/pg/audit.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { verifyChain } from './verifyChain.ts';

export interface AnchoredChains {
  moved: number;
  broken: number;
  /** Where to continue; null at the end. */
  next: string | null;
}

const chainsAtATime = 100;

/**
 * Anchors chains that have grown, so that a later truncation is detected even if nobody reads them. Checks only the new part,
 * except for chains found broken before, which are checked as a whole.
 */
export async function anchorChains(services: Services, after: string, activity: ActivityContext): Promise<AnchoredChains> {
  const chains = await listUnanchoredChains(services.db.pool, after, chainsAtATime);
  const total: AnchoredChains = { moved: 0, broken: 0, next: chains.length < chainsAtATime ? null : (chains.at(-1)?.scope ?? null) };
  for (const { scope, accountId, broken } of chains) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    const state = await verifyChain(services, accountId, scope, broken ? 'all' : 'newPart');
    if (state === 'moved') total.moved += 1;
    if (state === 'broken') total.broken += 1;
  }
  return total;
}
