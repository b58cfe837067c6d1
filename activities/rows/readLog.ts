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
  /** At most so many, from the end that is read first. */
  limit?: number;
  newestFirst?: boolean;
  /** False: only which rows and columns changed; cells and before are null. */
  withCells?: boolean;
}

/**
 * The log of a table between two versions, wherever it lies: small edits are rows of `row_log`, large ones are files.
 * Undo, history, diff and the 409's `changed` all read it here.
 */
export async function readLog(services: Services, tableId: string, query: LogQuery): Promise<LogRow[]> {
  const { after, upTo, rowIds, limit, newestFirst = false, withCells = true } = query;
  if (upTo <= after || rowIds?.length === 0) return [];
  const rows = rowIds ? { ids: rowIds } : null;
  const { movedUpTo, entries } = await listEntries(services.db.pool, tableId, { after, upTo, rowIds, limit, newestFirst, withCells });
  // Entries that were moved to a file since they were read here are not read again from there.
  const files = (await listLogFiles(services.db.orm, tableId, { after, upTo }, spanOf(rows))).filter(
    (file) => file.kind !== 'log' || file.upTo <= movedUpTo,
  );
  if (files.length === 0) return entries;
  const found = [...entries];
  for (const file of newestFirst ? files.reverse() : files) {
    // Newest first, a file that spans several versions is read whole: its limit would count from the wrong end.
    const most = newestFirst && file.upTo - file.after > 1 ? undefined : limit;
    found.push(...(await readLogFile(services, file, { after, upTo, rows, limit: most, withCells })));
  }
  const sign = newestFirst ? -1 : 1;
  found.sort((a, b) => sign * (a.editVersion - b.editVersion) || a.rowId - b.rowId);
  return limit === undefined ? found : found.slice(0, limit);
}

export interface UnloggedVersions {
  /** Ops that made a version otherwise than by entries of the log: a retype, a restore, a revert, a run. */
  ops: OpRecord[];
  /** Whether the log alone tells what became of the rows. */
  logTellsAll: boolean;
}

export async function findUnloggedVersions(services: Services, tableId: string, after: number, upTo: number): Promise<UnloggedVersions> {
  const { ops, versions } = await listVersionOpsExcept(services.db.orm, tableId, { after, upTo }, loggedKinds);
  return { ops, logTellsAll: ops.length === 0 && versions >= upTo - after };
}
