import { type CompactionLimits, chooseCompaction, compactionLimits } from '../../core/table/compactionLimits.ts';
import type { Layer } from '../../core/table/table.ts';
import { foldLayers } from '../../store/pg/compaction.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { FileWatch } from '../../store/tables/fileWatch.ts';
import { writeSegments } from '../../store/tables/writeSegments.ts';
import { keepColumns } from '../../store/tables/writtenColumns.ts';
import type { Pulse } from '../pulse.ts';
import { freezeTail } from './freezeTail.ts';
import { moveLog } from './moveLog.ts';

/** `moved`: the table is made of other layers meanwhile; what was written is not needed and is gone. */
export type CompactionOutcome = 'nothing' | 'frozen' | 'compacted' | 'moved';

/**
 * Folds a table's layers where they are over the limits. Reads the version that is current, writes files, then puts them
 * in place of the layers they were made from, below what came since; readers and writers never wait, a compaction comes
 * through however often the table is edited, and no version's content changes. Cut off
 * anywhere it leaves at most files that nothing refers to.
 */
export async function compactTable(
  services: Services,
  tableId: string,
  pulse: Pulse,
  limits: CompactionLimits = compactionLimits,
): Promise<CompactionOutcome> {
  const at = await findCurrentTableById(services.db.pool, tableId);
  if (!at) return 'nothing';
  const watch = watchFiles(services, pulse);
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
  // An error from here on does not say whether they were put there: the files must stay, and are collected if it did not.
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

/** Every file is unlike all others, even of the same rows: what is dropped here cannot be somebody else's. */
function watchFiles(services: Services, pulse: Pulse): FileWatch {
  const keys = new Set<string>();
  return {
    step() {
      pulse.heartbeat();
      pulse.signal?.throwIfAborted();
    },
    wrote: (key) => keys.add(key),
    async dropAll() {
      for (const key of keys) await services.blobs.remove(key);
      keys.clear();
    },
  };
}
