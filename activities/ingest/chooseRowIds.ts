import { reviseColumns } from '../../core/merge/reviseColumns.ts';
import { type IdRun, listIdRuns } from '../../core/merge/rowMatcher.ts';
import { findCurrentTableById, findTableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import type { WrittenTable } from './landTables.ts';
import { matchRows } from './matchRows.ts';
import { nameFileColumns, placeNext } from './placeNext.ts';

export interface ChosenIds {
  /** The ids that the rows of a revised table had in the file before, with new ones for rows that are new. */
  rowIds: IdRun[];
  /** The new file leaves the table as it is. */
  isSame: boolean;
}

/** Null: no row was found again, so the ids are those that the table was written with. */
export async function chooseRowIds(services: Services, landedVersion: number, written: WrittenTable): Promise<ChosenIds | null> {
  const current = await findCurrentTableById(services.db.pool, written.tableId);
  const base = current && (await findTableAt(services.db.pool, current.table, landedVersion));
  if (!base) return null;
  const fileColumns = nameFileColumns(written);
  const { columns } = reviseColumns(base.columns, base.columns, fileColumns, current.table.nextColumnId);
  const matched = await matchRows(services, base, placeNext(current, written, fileColumns), columns);
  if (!matched || matched.matcher.before.every((position) => position < 0)) return null;
  const { matcher, idsBefore, isSame } = matched;
  return { rowIds: listIdRuns(matcher, idsBefore, written.rowBase + 1), isSame };
}
