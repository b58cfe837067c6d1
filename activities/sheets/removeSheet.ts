import { notFound } from '../../core/errors.ts';
import { sheetDeleted } from '../../core/journal/sheetNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { deleteSheet, type SheetRecord } from '../../store/pg/sheets.ts';

/** Deletes a sheet and no data. */
export async function removeSheet(tx: Tx, workbookId: string, { name }: Pick<SheetRecord, 'name'>): Promise<void> {
  const gone = await deleteSheet(tx, workbookId, name);
  if (!gone) throw notFound('sheet in this workbook', 'It was deleted a moment ago.');
  tx.note(workbookId, sheetDeleted(gone));
}
