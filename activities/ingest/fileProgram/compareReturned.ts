import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type ColumnType, parseColumnType } from '../../../core/cells/columnTypes.ts';
import { SheetComparison } from '../../../core/merge/compareSheet.ts';
import { packRow, type ReturnedRow } from '../../../core/merge/packedRow.ts';
import type { DraftStore } from '../../../store/blobs/blobStore.ts';
import { readBatchFile } from '../../../store/records/readBatchFile.ts';
import type { ReturnedFile } from './readReturned.ts';
import type { WantedSheet } from './requests.ts';

/** Characters per write. */
const writtenLength = 262_144;

/** Writes the rows of a sheet that differ from the export, as lines of JSON. */
export async function compareReturned(
  blobs: DraftStore,
  { sheets, isLoose }: ReturnedFile,
  { sheet, rowId, columns, base }: WantedSheet,
): Promise<{ file: string; unchanged: number }> {
  const cells = sheets[sheet]?.cells;
  if (!cells) throw new Error(`there is no sheet ${sheet}`);
  const typed = columns.map((column) => ({ ...column, type: parseColumnType(column.type) as ColumnType }));
  const comparison = new SheetComparison({ cells, isLoose, rowId, columns: typed });
  const draft = await blobs.draft();
  await pipeline(() => writeLines(compareAll(comparison, base)), createWriteStream(draft));
  return { file: (await blobs.put('', draft, 'json')).key, unchanged: comparison.unchanged };
}

async function* compareAll(comparison: SheetComparison, base: string): AsyncGenerator<Iterable<ReturnedRow>> {
  yield comparison.compareAdded();
  for await (const batch of readBatchFile(base)) yield comparison.compareBatch(batch);
  yield comparison.compareRest();
}

async function* writeLines(parts: AsyncIterable<Iterable<ReturnedRow>>): AsyncGenerator<string> {
  let text = '';
  for await (const rows of parts) {
    for (const row of rows) {
      text += `${JSON.stringify(packRow(row))}\n`;
      if (text.length < writtenLength) continue;
      yield text;
      text = '';
    }
  }
  if (text !== '') yield text;
}
