import { GivenRow } from '../../core/cells/givenRow.ts';
import { parseExactly } from '../../core/cells/jsonReader.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { openArrowRecords } from './arrowRecords.ts';
import { type RecordLimits, recordLimits } from './recordFile.ts';

/** What the rows of one request may hold, packed or not. */
const limits: RecordLimits = { ...recordLimits, totalBytes: 32 * 1024 * 1024 };

/** The rows of an Arrow stream as rows of a request, up to one more than `most`. A row id that is null is left out. */
export async function readArrowRows(path: string, most: number): Promise<GivenRow[]> {
  const file = await openArrowRecords(path, limits);
  try {
    const names = file.columns.map(({ name }) => name);
    const idPlace = names.indexOf(rowIdColumn);
    const namesOfNew = names.filter((_, k) => k !== idPlace);
    const rows: GivenRow[] = [];
    for await (const batch of file.batches()) {
      for (let i = 0; i < batch.rows; i += 1) {
        const texts = batch.columns.map((column) => column[i] ?? null);
        const values = texts.map((text, k) => readValue(text, k === idPlace ? rowIdColumn : file.columns[k]?.type));
        if (idPlace < 0 || texts[idPlace] !== null) rows.push(new GivenRow(names, values));
        else rows.push(new GivenRow(namesOfNew, values.toSpliced(idPlace, 1)));
        if (rows.length > most) return rows;
      }
    }
    return rows;
  } finally {
    await file.close();
  }
}

function readValue(text: string | null, type: string | undefined): unknown {
  if (text === null) return null;
  if (type === rowIdColumn) return Number(text);
  return type === 'JSON' ? parseExactly(text) : text;
}
