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
import { listDeletedAccounts } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';

/**
 * Removes expired versions, then the manifests that only they needed, and the logs of tables that cannot be restored. Their
 * files are removed as unreferenced blobs.
 */
export async function collectVersions(services: Services, activity: ActivityContext): Promise<{ versions: number; manifests: number }> {
  const { pool } = services.db;
  const versions = await deleteOldVersions(pool, activity.heartbeat);
  const manifests = await deleteOldManifests(pool, activity.heartbeat);
  await deleteUnreachableLogs(pool, activity.heartbeat);
  return { versions, manifests };
}

const graceMs = 24 * 3_600_000;
const workbooksAtATime = 200;

export interface CollectedBlobs {
  removed: number;
  /** Found unreferenced for the first time; checked again in a later run. */
  suspected: number;
  /** Where to continue; null at the end. */
  next: string | null;
}

/**
 * Removes blobs that have been unreferenced for a day. A blob is noted first, and removed by a later run, a day on, if it is
 * still unreferenced and was not written again.
 */
export async function collectBlobs(services: Services, after: string, activity: ActivityContext): Promise<CollectedBlobs> {
  const workbooks = await listWorkbookKeys(services.db.pool, after, workbooksAtATime);
  const total: CollectedBlobs = {
    removed: 0,
    suspected: 0,
    next: workbooks.length < workbooksAtATime ? null : (workbooks.at(-1)?.id ?? null),
  };
  if (total.next === null) total.removed += await collectOrphans(services, activity);
  for (const workbook of workbooks) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    const { removed, suspected } = await inAccount(workbook.accountId, () => collectWorkbook(services, workbook, activity));
    total.removed += removed;
    total.suspected += suspected;
  }
  return total;
}

/**
 * Removes blobs of accounts that were deleted in the last days: who wrote them was at work when the account went. Only of these,
 * because what no account of this database has may belong to another installation.
 */
async function collectOrphans(services: Services, activity: ActivityContext): Promise<number> {
  let removed = 0;
  for (const accountId of await listDeletedAccounts(services.db.pool)) {
    activity.signal?.throwIfAborted();
    for await (const { key } of services.blobs.list(accountId)) {
      activity.heartbeat();
      if (await services.blobs.removeOld(key, new Date(Date.now() - graceMs))) removed += 1;
    }
  }
  return removed;
}

async function collectWorkbook(
  services: Services,
  workbook: WorkbookKey,
  activity: ActivityContext,
): Promise<{ removed: number; suspected: number }> {
  const { pool } = services.db;
  const prefix = workbookPrefix(workbook);
  const now = Date.now();
  const old: string[] = [];
  for await (const blob of services.blobs.list(prefix)) {
    // The transaction that refers to a young blob may still be running.
    if (isCollected(blob.key) && now - blob.modifiedAt.getTime() > graceMs) old.push(blob.key);
  }
  // Listed after the blobs, so that references added in between are seen.
  const referred = old.length === 0 ? new Set<string>() : await listReferencedKeys(pool, workbook.id);
  const unreferred = old.filter((key) => !referred.has(key));
  const seen = await recordGarbage(pool, `${prefix}/`, unreferred);
  const due = unreferred.filter((key) => now - (seen.get(key)?.getTime() ?? now) > graceMs);
  let removed = 0;
  for (const key of due) {
    activity.heartbeat();
    if (await isReferenced(pool, workbook.id, key)) continue;
    if (await services.blobs.removeOld(key, new Date(now - graceMs))) removed += 1;
  }
  await forgetGarbage(pool, due);
  return { removed, suspected: unreferred.length - removed };
}

/** Removes unfinished files whose writer ended; no write takes a day. Returns how many there were. */
export async function sweepDrafts(services: Services): Promise<number> {
  return services.blobs.sweepDrafts(new Date(Date.now() - graceMs));
}
