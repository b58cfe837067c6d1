import type { CompactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { writeLog } from '../../store/duckdb/writeFile.ts';
import { listOldEntries, moveEntries } from '../../store/pg/rowLog.ts';
import type { Services } from '../../store/services.ts';
import type { FileWatch } from '../../store/tables/fileWatch.ts';

const mostInFile = { entries: 20_000, bytes: 64 * 1024 * 1024 };

/**
 * Moves log entries that the current layers do not need from the database to files, where history, diff, undo and older
 * versions read them. So the database holds a bounded number of entries per table.
 */
export async function moveLog(services: Services, at: TableAt, limits: CompactionLimits, watch: FileWatch): Promise<number> {
  const upTo = at.layers.reduce((least, layer) => (layer.kind === 'log' ? Math.min(least, layer.after) : least), at.editVersion);
  for (let moved = 0; ; ) {
    watch.step();
    const { movedUpTo, entries } = await listOldEntries(services.db.pool, at.table.id, upTo, mostInFile);
    // Too few entries for a file.
    if (entries.length < limits.moved) return moved;
    entries.sort((a, b) => a.editVersion - b.editVersion || a.rowId - b.rowId);
    const { key, bytes } = await writeLog(services, tablePrefix(at.table), entries);
    const rowIds = entries.map((entry) => entry.rowId);
    // After an error here we do not know whether the entries were moved, so the file must stay; an unused one is collected
    // later.
    const isMoved = await moveEntries(services.db.pool, {
      tableId: at.table.id,
      key,
      kind: 'log',
      after: movedUpTo,
      upTo: entries.at(-1)?.editVersion ?? movedUpTo,
      rows: entries.length,
      minRow: rowIds.reduce((a, b) => Math.min(a, b)),
      maxRow: rowIds.reduce((a, b) => Math.max(a, b)),
      bytes,
    });
    if (!isMoved) {
      await services.blobs.remove(key);
      return moved;
    }
    moved += entries.length;
  }
}
