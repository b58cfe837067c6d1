import { readLogFile } from '../../store/duckdb/readLogFile.ts';
import { listLogFiles } from '../../store/pg/logFiles.ts';
import { listMakersBut, type OpRecord } from '../../store/pg/ops.ts';
import { type LogRow, listEntries } from '../../store/pg/rowLog.ts';
import type { Services } from '../../store/services.ts';

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
  const span = rowIds ? { min: rowIds.reduce((a, b) => Math.min(a, b)), max: rowIds.reduce((a, b) => Math.max(a, b)) } : null;
  const [logged, files] = await Promise.all([
    listEntries(services.db.pool, tableId, { after, upTo, rowIds, limit, newestFirst, withCells }),
    listLogFiles(services.db.orm, tableId, { after, upTo }, span),
  ]);
  if (files.length === 0) return logged;
  const rows = [...logged];
  for (const file of newestFirst ? files.reverse() : files) {
    // Newest first, a file that spans several versions is read whole: its limit would count from the wrong end.
    const most = newestFirst && file.upTo - file.after > 1 ? undefined : limit;
    rows.push(...(await readLogFile(services, file, { after, upTo, rowIds, limit: most, withCells })));
  }
  const sign = newestFirst ? -1 : 1;
  rows.sort((a, b) => sign * (a.editVersion - b.editVersion) || a.rowId - b.rowId);
  return limit === undefined ? rows : rows.slice(0, limit);
}

/** Ops whose versions differ from the one before by what the log says, or by columns alone. */
const loggedKinds = ['rows.upsert', 'rows.delete', 'rows.undo', 'merge.apply', 'column.add', 'column.rename', 'column.drop'];

export interface UnloggedVersions {
  /** Ops that made a version otherwise than by entries of the log: a retype, a restore, a revert, a run. */
  makers: OpRecord[];
  /** Whether the log alone tells what became of the rows. */
  logTellsAll: boolean;
}

export async function findUnloggedVersions(services: Services, tableId: string, after: number, upTo: number): Promise<UnloggedVersions> {
  const { makers, versions } = await listMakersBut(services.db.orm, tableId, { after, upTo }, loggedKinds);
  return { makers, logTellsAll: makers.length === 0 && versions >= upTo - after };
}
