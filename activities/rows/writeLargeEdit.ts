import { countAdded } from '../../core/storage/use.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import { appendFile, countNewRows, isLargeEdit, numberEdit } from '../../core/table/largeEdit.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { writeDelta, writeSegment } from '../../store/duckdb/writeFile.ts';
import { reserveRows } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { requireRoom } from '../storage/withRoom.ts';

/** Writes the entries of a large edit to a file; returns other edits unchanged. */
export async function writeLargeEdit(services: Services, edit: PreparedEdit): Promise<PreparedEdit> {
  const { at, plan } = edit;
  if (!isLargeEdit(plan.entries)) return edit;
  await requireRoom(services, at.table.accountId, countAdded(plan));
  const newRows = countNewRows(plan.entries);
  const file = numberEdit(edit, newRows > 0 ? await reserveRows(services.db.pool, at.table.id, newRows) : 0);
  const write = file.kind === 'segment' ? writeSegment : writeDelta;
  return appendFile(file, await write(services, tablePrefix(at.table), at.columns, file.entries));
}
