import { estimateRowsMemory } from '../../core/table/rowBytes.ts';
import type { RowSelection } from '../../core/table/table.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { mostWorkBytes } from '../../store/tables/answerSize.ts';
import { compareVersions } from '../../store/tables/compareVersions.ts';
import { noRow, type TableDiff } from '../../store/tables/tableDiff.ts';
import { takeWorkMemory } from '../../store/workMemory.ts';
import { findUnloggedVersions, readLog } from './readLog.ts';

const mostFromLog = 5_000;

/**
 * The differences between two versions, as the caller may see them. If the log is complete it tells which rows to compare;
 * after a restore, or when columns were dropped or added with a default, all rows are compared.
 */
export async function diffTable(services: Services, from: VisibleTable, to: VisibleTable, limit: number): Promise<TableDiff> {
  const rows = Math.min(2 * limit, from.at.rowCount + to.at.rowCount);
  await takeWorkMemory(Math.min(mostWorkBytes, 2 * estimateRowsMemory(to.at, to.columns, rows)));
  return compareVersions(services, from, to, await selectDiffering(services, from, to), limit);
}

/** The rows that can differ, from the log. Null: any row, as the log is incomplete or lists too many. */
async function selectDiffering(services: Services, from: VisibleTable, to: VisibleTable): Promise<RowSelection | null> {
  const [early, late] = from.at.editVersion < to.at.editVersion ? [from, to] : [to, from];
  const [after, upTo] = [early.at.editVersion, late.at.editVersion];
  if (after === upTo) return { ids: [noRow] };
  if (touchesAllRows(early, late)) return null;
  if (!(await findUnloggedVersions(services, from.at.table.id, after, upTo)).logTellsAll) return null;
  const entries = await readLog(services, from.at.table.id, { after, upTo, limit: mostFromLog + 1, withCells: false });
  return entries.length > mostFromLog ? null : { ids: [...new Set([noRow, ...entries.map((entry) => entry.rowId)])] };
}

/** Dropping a column, or adding one with a default, changes all rows without log entries. */
function touchesAllRows(early: VisibleTable, late: VisibleTable): boolean {
  const idsOf = ({ columns }: VisibleTable) => new Set(columns.map((column) => column.id));
  const [before, after] = [idsOf(early), idsOf(late)];
  return (
    early.columns.some((column) => !after.has(column.id)) ||
    late.columns.some((column) => column.defaultText !== null && !before.has(column.id))
  );
}
