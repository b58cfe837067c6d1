import { workbookPrefix } from '../../store/blobs/keys.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import {
  deleteOldManifests,
  deleteOldVersions,
  deleteUnreachableLogs,
  forgetGarbage,
  isCollected,
  isReferenced,
  listReferencedKeys,
  listWorkbookKeys,
  recordGarbage,
  type WorkbookKey,
} from '../../store/pg/garbage.ts';
import type { Services } from '../../store/services.ts';
import type { Pulse } from '../pulse.ts';

/**
 * Versions past their time, then the manifests that only they needed, and the logs of tables that can never come back.
 * Their files go with the blobs that nothing refers to.
 */
export async function collectVersions(services: Services, pulse: Pulse): Promise<{ versions: number; manifests: number }> {
  const { pool } = services.db;
  const versions = await deleteOldVersions(pool, pulse.heartbeat);
  const manifests = await deleteOldManifests(pool, pulse.heartbeat);
  await deleteUnreachableLogs(pool, pulse.heartbeat);
  return { versions, manifests };
}

const graceMs = 24 * 3_600_000;
const workbooksAtATime = 200;

export interface CollectedBlobs {
  removed: number;
  /** Seen without a reference; looked at again in a later run. */
  suspected: number;
  /** Where to go on; null at the end. */
  next: string | null;
}

/**
 * Removes blobs that nothing has referred to for a day. A blob is first only noted; it goes when a later run, a day on,
 * finds it so again, and by the moment it is removed nothing has come to refer to it or has put it again.
 */
export async function collectBlobs(services: Services, after: string, pulse: Pulse): Promise<CollectedBlobs> {
  const workbooks = await listWorkbookKeys(services.db.pool, after, workbooksAtATime);
  const total: CollectedBlobs = {
    removed: 0,
    suspected: 0,
    next: workbooks.length < workbooksAtATime ? null : (workbooks.at(-1)?.id ?? null),
  };
  for (const workbook of workbooks) {
    pulse.heartbeat();
    pulse.signal?.throwIfAborted();
    const { removed, suspected } = await inAccount(workbook.accountId, () => collectWorkbook(services, workbook, pulse));
    total.removed += removed;
    total.suspected += suspected;
  }
  return total;
}

async function collectWorkbook(services: Services, workbook: WorkbookKey, pulse: Pulse): Promise<{ removed: number; suspected: number }> {
  const { pool } = services.db;
  const prefix = workbookPrefix(workbook);
  const now = Date.now();
  const old: string[] = [];
  for await (const blob of services.blobs.list(prefix)) {
    // A young one may be waiting for its transaction.
    if (isCollected(blob.key) && now - blob.modifiedAt.getTime() > graceMs) old.push(blob.key);
  }
  // The references after the blobs: what was referred to between the two is seen.
  const referred = old.length === 0 ? new Set<string>() : await listReferencedKeys(pool, workbook.id);
  const unreferred = old.filter((key) => !referred.has(key));
  const seen = await recordGarbage(pool, `${prefix}/`, unreferred);
  const due = unreferred.filter((key) => now - (seen.get(key)?.getTime() ?? now) > graceMs);
  let removed = 0;
  for (const key of due) {
    pulse.heartbeat();
    if (await isReferenced(pool, workbook.id, key)) continue;
    if (await services.blobs.removeOld(key, new Date(now - graceMs))) removed += 1;
  }
  await forgetGarbage(pool, due);
  return { removed, suspected: unreferred.length - removed };
}

/** Files that were being written when their writer ended; no write takes a day. Returns how many there were. */
export async function sweepDrafts(services: Services): Promise<number> {
  return services.blobs.sweepDrafts(new Date(Date.now() - graceMs));
}
