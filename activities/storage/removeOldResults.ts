import { mostResults, type StorageUse } from '../../core/storage/use.ts';
import { limitConcurrency } from '../../store/blobs/limitConcurrency.ts';
import { expireOldResults } from '../../store/pg/results.ts';
import type { Services } from '../../store/services.ts';

const runLimited = limitConcurrency(8);
/** Some more room than is needed, so that not each further result has to make its own. */
const spare = 0.8;

/** Removes the oldest results of an account, so that the others take less than `bytes` together. */
export async function removeOldResults(services: Services, accountId: string, use: StorageUse, bytes: number): Promise<void> {
  const most = { bytes: Math.floor(bytes * spare), count: Math.floor(mostResults * spare) };
  const before = { ...use };
  const { removedKeys, ...left } = await expireOldResults(services.db.pool, accountId, most);
  // With those that came meanwhile.
  use.results += left.bytes - before.results;
  use.resultCount += left.count - before.resultCount;
  // If this is interrupted, the rest is collected as garbage.
  await Promise.all(removedKeys.map((key) => runLimited(() => services.blobs.remove(key))));
}
