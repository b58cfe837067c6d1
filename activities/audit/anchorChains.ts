import { listUnanchoredChains } from '../../store/pg/audit.ts';
import type { Services } from '../../store/services.ts';
import type { Pulse } from '../pulse.ts';
import { verifyChain } from './verifyChain.ts';

export interface AnchoredChains {
  moved: number;
  broken: number;
  /** Where to go on; null at the end. */
  next: string | null;
}

const chainsAtATime = 100;

/**
 * Anchors chains that have grown since they were anchored, whether anybody reads them or not: what is cut off later than
 * that is seen. Only the new part is checked, but for chains that were found broken: they are looked at as a whole.
 */
export async function anchorChains(services: Services, after: string, pulse: Pulse): Promise<AnchoredChains> {
  const chains = await listUnanchoredChains(services.db.pool, after, chainsAtATime);
  const total: AnchoredChains = { moved: 0, broken: 0, next: chains.length < chainsAtATime ? null : (chains.at(-1)?.scope ?? null) };
  for (const { scope, accountId, broken } of chains) {
    pulse.heartbeat();
    pulse.signal?.throwIfAborted();
    const state = await verifyChain(services, accountId, scope, broken ? 'all' : 'newPart');
    if (state === 'moved') total.moved += 1;
    if (state === 'broken') total.broken += 1;
  }
  return total;
}
