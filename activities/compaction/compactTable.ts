import { type CompactionLimits, chooseCompaction, compactionLimits } from '../../core/table/compactionLimits.ts';
import type { Layer } from '../../core/table/table.ts';
import { foldLayers } from '../../store/pg/compaction.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { FileWatch } from '../../store/tables/fileWatch.ts';
import { writeSegments } from '../../store/tables/writeSegments.ts';
import { keepColumns } from '../../store/tables/writtenColumns.ts';
import type { ActivityContext } from '../activityContext.ts';
import { freezeTail } from './freezeTail.ts';
import { moveLog } from './moveLog.ts';

/** `moved`: the layers were replaced meanwhile; the written files were deleted. */
export type CompactionOutcome = 'nothing' | 'frozen' | 'compacted' | 'moved';

/**
 * Compacts a table that is over the limits. Reads the current version, writes files, then replaces the layers they were made
 * from; layers added since stay on top. Readers and writers never wait, frequent edits do not prevent it, and no version's
 * content changes. If interrupted, it leaves at most unreferenced files.
 */
export async function compactTable(
  services: Services,
  tableId: string,
  activity: ActivityContext,
  limits: CompactionLimits = compactionLimits,
): Promise<CompactionOutcome> {
  const at = await findCurrentTableById(services.db.pool, tableId);
  if (!at) return 'nothing';
  const watch = watchFiles(services, activity);
  const kind = chooseCompaction(at, limits);
  if (!kind) {
    const moved = await moveLog(services, at, limits, watch);
    if (moved > 0) services.log.info({ tableId, moved }, 'log moved to files');
    return 'nothing';
  }
  let files: Layer[];
  try {
    files = kind === 'freeze' ? await freezeTail(services, at, watch) : await writeSegments(services, at, keepColumns(at), limits, watch);
    watch.step();
  } catch (error) {
    await watch.dropAll().catch(() => {});
    throw error;
  }
  // After an error here we do not know whether the files are in use, so they must stay; unused ones are collected later.
  const folded = await foldLayers(services.db.pool, {
    tableId,
    from: at.table.manifestId,
    to: makeId('mft'),
    files,
    editVersion: at.editVersion,
    versionUid: at.versionUid,
  });
  if (!folded) await watch.dropAll();
  services.log.info({ tableId, kind, folded, version: at.editVersion, files: files.length }, 'table folded');
  return folded ? (kind === 'freeze' ? 'frozen' : 'compacted') : 'moved';
}

/** Every file has a unique key, even with the same rows, so deleting one never affects another. */
function watchFiles(services: Services, activity: ActivityContext): FileWatch {
  const keys = new Set<string>();
  return {
    step() {
      activity.heartbeat();
      activity.signal?.throwIfAborted();
    },
    wrote: (key) => keys.add(key),
    async dropAll() {
      for (const key of keys) await services.blobs.remove(key);
      keys.clear();
    },
  };
}
