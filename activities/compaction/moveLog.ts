import type { CompactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { writeLog } from '../../store/duckdb/writeFile.ts';
import { listOldEntries, moveEntries } from '../../store/pg/rowLog.ts';
import type { Services } from '../../store/services.ts';
import type { FileWatch } from '../../store/tables/fileWatch.ts';

const mostInFile = { entries: 20_000, bytes: 64 * 1024 * 1024 };

/**
 * Moves entries that no layer of the table as it is reads any more from the database to files, where history, diff, undo
 * and older versions go on reading them. What is left in the database is bounded, however often a table is edited.
 */
export async function moveLog(services: Services, at: TableAt, limits: CompactionLimits, watch: FileWatch): Promise<number> {
  const upTo = at.layers.reduce((least, layer) => (layer.kind === 'log' ? Math.min(least, layer.after) : least), at.editVersion);
  for (let moved = 0; ; ) {
    watch.step();
    const { movedUpTo, entries } = await listOldEntries(services.db.pool, at.table.id, upTo, mostInFile);
    // A file for a few entries is not worth its reading.
    if (entries.length < limits.moved) return moved;
    entries.sort((a, b) => a.editVersion - b.editVersion || a.rowId - b.rowId);
    const { key, bytes } = await writeLog(services, tablePrefix(at.table), entries);
    const rowIds = entries.map((entry) => entry.rowId);
    // An error from here on does not say whether they were moved: the file must stay, and is collected if they were not.
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
