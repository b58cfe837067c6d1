import { countResultShare, mostResults } from '../../core/storage/use.ts';
import type { Services } from '../../store/services.ts';
import { removeOldResults } from './removeOldResults.ts';

/** When this part of the room is taken, the oldest results begin to go: that takes seconds if they are many, and nobody waits for it. */
const nearlyFull = 0.95;

/** Counts a result that is about to be stored. It is never refused: the oldest results of the account go instead. */
export async function makeRoomForResult(services: Services, accountId: string, bytes: number): Promise<void> {
  const use = await services.storage.recall(accountId);
  const share = countResultShare(use, services.config.resultsLimit);
  const exceeds = (part: number) => use.results + bytes > share * part || use.resultCount >= mostResults * part;
  if (exceeds(nearlyFull)) {
    const tidied = services.storage.tidy(accountId, () => removeOldResults(services, accountId, use, Math.max(0, share - bytes)));
    // Who finds it full hears of a failure.
    if (exceeds(1)) await tidied;
    else tidied.catch(() => {});
  }
  use.results += bytes;
  use.resultCount += 1;
}
