import type { Layer } from '../../schema/tables.ts';
import { swapManifest } from '../../store/pg/compaction.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import { freezeTail } from './freezeTail.ts';
import { type CompactionLimits, chooseCompaction, compactionLimits } from './limits.ts';
import { moveLog } from './moveLog.ts';
import { keepColumns, writeSegments } from './writeSegments.ts';

/** `moved`: the table got another manifest meanwhile; what was written is not needed and is gone. */
export type CompactionOutcome = 'nothing' | 'frozen' | 'compacted' | 'moved';

/** What a long activity is told to do between its steps. */
export interface Pulse {
  heartbeat(): void;
  signal?: AbortSignal;
}

/** Keeps account of the files of one compaction. */
export interface CompactionWatch {
  /** Before each file: says that it is alive, stops when it is cancelled. */
  step(): void;
  wrote(key: string): void;
  dropAll(): Promise<void>;
}

/**
 * Folds a table's layers where they are over the limits. Reads the version that is current, writes files, then puts them
 * in place of the layers they were made from; readers and writers never wait, and no version's content changes. Cut off
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
  let layers: Layer[];
  try {
    const files =
      kind === 'freeze' ? await freezeTail(services, at, watch) : await writeSegments(services, at, keepColumns(at), limits, watch);
    layers = [...files, { kind: 'log', after: at.editVersion, upTo: null }];
    watch.step();
  } catch (error) {
    await watch.dropAll().catch(() => {});
    throw error;
  }
  // An error from here on does not say whether the swap happened: the files must stay, and are collected if it did not.
  const swapped = await swapManifest(services.db.pool, {
    tableId,
    from: at.table.manifestId,
    to: makeId('mft'),
    layers,
    editVersion: at.editVersion,
    versionUid: at.versionUid,
  });
  if (!swapped) await watch.dropAll();
  services.log.info({ tableId, kind, swapped, version: at.editVersion, layers: layers.length }, 'table folded');
  return swapped ? (kind === 'freeze' ? 'frozen' : 'compacted') : 'moved';
}

/** Every file is unlike all others, even of the same rows: what is dropped here cannot be somebody else's. */
function watchFiles(services: Services, pulse: Pulse): CompactionWatch {
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
