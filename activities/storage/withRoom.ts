import { DomainError } from '../../core/errors.ts';
import { describeSize } from '../../core/storage/sizes.ts';
import { countResultShare, type StorageUse, sumLayers } from '../../core/storage/use.ts';
import type { Layer } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { removeOldResults } from './removeOldResults.ts';

/** Refuses what would store more than the account's plan allows, before work on it begins. */
export async function requireRoom(services: Services, accountId: string, bytes: number): Promise<void> {
  await findRoom(services, accountId, bytes, () => {});
}

/** Does work that stores so many bytes, if there is room for them. Results of queries go first. */
export async function withRoom<T>(services: Services, accountId: string, bytes: number, work: () => Promise<T>): Promise<T> {
  if (bytes === 0) return work();
  const { use, release } = await findRoom(services, accountId, bytes, (found) => ({
    use: found,
    release: services.storage.hold(accountId, bytes),
  }));
  try {
    const left = { ...use, tables: use.tables + bytes };
    const share = countResultShare(left, services.config.resultsLimit);
    if (use.results > share) await removeOldResults(services, accountId, use, share);
    return await work();
  } finally {
    release();
  }
}

async function findRoom<T>(services: Services, accountId: string, bytes: number, take: (use: StorageUse) => T): Promise<T> {
  const { storage } = services;
  for (const find of [() => storage.recall(accountId), () => storage.read(accountId)]) {
    const use = await find();
    // Taken at once, so that no other write finds the same room.
    if (storage.hasRoom(accountId, use, bytes)) return take(use);
  }
  throw refuseBytes(await storage.recall(accountId), bytes);
}

/** The same for work that makes tables of files that are written. */
export function withRoomForTables<T>(
  services: Services,
  accountId: string,
  tables: readonly { layers: Layer[] }[],
  work: () => Promise<T>,
): Promise<T> {
  const bytes = tables.reduce((sum, { layers }) => sum + sumLayers(layers), 0);
  return withRoom(services, accountId, bytes, work);
}

function refuseBytes({ tables, sources, limit }: StorageUse, bytes: number): DomainError {
  return new DomainError(
    'quota-exceeded',
    `The account stores ${describeSize(tables + sources)} of the ${describeSize(limit)} that its plan allows; this would add ${describeSize(bytes)}.`,
    'Delete tables, sources or workbooks that are not needed, or choose a larger plan. Reading and deleting work as ever.',
  );
}
