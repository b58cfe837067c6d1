import { countResultShare, mostResults } from '../../core/storage/use.ts';
import type { Services } from '../../store/services.ts';
import { removeOldResults } from './removeOldResults.ts';

/** Counts a result that is about to be stored. It is never refused: the oldest results of the account go instead. */
export async function makeRoomForResult(services: Services, accountId: string, bytes: number): Promise<void> {
  const use = await services.storage.recall(accountId);
  const share = countResultShare(use, services.config.resultsLimit);
  if (use.results + bytes > share || use.resultCount >= mostResults)
    await services.storage.tidy(accountId, () => removeOldResults(services, accountId, use, Math.max(0, share - bytes)));
  use.results += bytes;
  use.resultCount += 1;
}
