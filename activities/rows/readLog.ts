import { loggedKinds } from '../../core/journal/opKinds.ts';
import type { LogRow } from '../../core/table/log.ts';
import { readLogFile } from '../../store/duckdb/readLogFile.ts';
import { listLogFiles } from '../../store/pg/logFiles.ts';
import { listVersionOpsExcept, type OpRecord } from '../../store/pg/ops.ts';
import { listEntries } from '../../store/pg/rowLog.ts';
import type { Services } from '../../store/services.ts';
import { spanOf } from '../../store/tables/readLogLayers.ts';

export interface LogQuery {
  after: number;
  upTo: number;
  rowIds?: number[];
  /** At most so many entries, oldest or newest first as read. */
  limit?: number;
  newestFirst?: boolean;
  /** False: only which rows and columns changed; `cells` and `before` are null. */
  withCells?: boolean;
}

/**
 * Reads the log of a table between two versions: small edits are rows of `row_log`, large ones are files. Used by undo,
 * history, diff and the `changed` list of a 409.
 */
export async function readLog(services: Services, tableId: string, query: LogQuery): Promise<LogRow[]> {
  const { after, upTo, rowIds, limit, newestFirst = false, withCells = true } = query;
  if (upTo <= after || rowIds?.length === 0) return [];
  const rows = rowIds ? { ids: rowIds } : null;
  const { movedUpTo, entries } = await listEntries(services.db.pool, tableId, { after, upTo, rowIds, limit, newestFirst, withCells });
  // Entries that were moved to a file after we read them are not read again.
  const files = (await listLogFiles(services.db.orm, tableId, { after, upTo }, spanOf(rows))).filter(
    (file) => file.kind !== 'log' || file.upTo <= movedUpTo,
  );
  if (files.length === 0) return entries;
  const found = [...entries];
  for (const file of newestFirst ? files.reverse() : files) {
    // A file of several versions is sorted oldest first, so a limit would cut off its newest entries.
    const most = newestFirst && file.upTo - file.after > 1 ? undefined : limit;
    found.push(...(await readLogFile(services, file, { after, upTo, rows, limit: most, withCells })));
  }
  const sign = newestFirst ? -1 : 1;
  found.sort((a, b) => sign * (a.editVersion - b.editVersion) || a.rowId - b.rowId);
  return limit === undefined ? found : found.slice(0, limit);
}

export interface UnloggedVersions {
  /** Ops that made a version without log entries: a retype, a restore, a revert, a run. */
  ops: OpRecord[];
  /** Whether the log has every change of rows. */
  logTellsAll: boolean;
}

export async function findUnloggedVersions(services: Services, tableId: string, after: number, upTo: number): Promise<UnloggedVersions> {
  const { ops, versions } = await listVersionOpsExcept(services.db.orm, tableId, { after, upTo }, loggedKinds);
  return { ops, logTellsAll: ops.length === 0 && versions >= upTo - after };
}
