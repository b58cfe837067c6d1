import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { asTheyAre, csvCell, guardText, writeCsvLine } from '../../core/cells/csvText.ts';
import { type ByteColumn, isValid, readByteText } from '../../core/table/textBatch.ts';
import type { Sink } from '../../store/blobs/spool.ts';
import { ByteBuffer } from '../../store/byteBuffer.ts';
import { putCsvText } from '../../store/csv/putCsvCell.ts';
import type { Services } from '../../store/services.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { eachByteBatch } from '../../store/tables/readByteBatches.ts';
import { streamTable } from '../../store/tables/streamTable.ts';
import { chooseFileNames } from '../../store/xlsx/write/chooseNames.ts';
import { ZipWriter } from '../../store/xlsx/write/zipWriter.ts';
import { mayBeHuge } from './mayBeHuge.ts';

interface FilesWanted {
  format: 'csv' | 'parquet' | 'ndjson';
  csvBom: boolean;
}

/** Writes a table as it is, or several as a zip with a file for each. */
export async function writeTableFiles(
  services: Services,
  projections: Projection[],
  wanted: FilesWanted,
  sink: Sink,
): Promise<{ formulas: 0 }> {
  const [only] = projections;
  if (only && projections.length === 1) await writeTable(services, only, wanted, sink);
  else {
    const zip = new ZipWriter(sink);
    const names = chooseFileNames(projections.map(({ visible }) => visible.at.table.name));
    for (const [i, projection] of projections.entries()) {
      const entry = await zip.openEntry(`${names[i]}.${wanted.format}`, { long: mayBeHuge(projection) });
      await writeTable(services, projection, wanted, (bytes) => entry.write(bytes));
      await entry.end();
    }
    await zip.finish();
  }
  return { formulas: 0 };
}

async function writeTable(services: Services, projection: Projection, { format, csvBom }: FilesWanted, sink: Sink): Promise<void> {
  if (format === 'csv') return writeCsv(services, projection, csvBom, sink);
  for await (const piece of await streamTable(services, projection, format)) await sink(piece as Buffer);
}

/** CSV that programs for spreadsheets open as it is meant: they need the mark to see that it is UTF-8, and run no text of it. */
async function writeCsv(services: Services, projection: Projection, csvBom: boolean, sink: Sink): Promise<void> {
  const types = projection.columns.map(({ type }) => parseColumnType(type) as ColumnType);
  const header = writeCsvLine(projection.columns.map(({ name }) => guardText(name)));
  await sink(Buffer.from((csvBom ? '\ufeff' : '') + header));
  // Two in turn, because a compressor may still be reading the one before.
  let [out, given] = [new ByteBuffer(), new ByteBuffer()];
  await eachByteBatch(services, projection, async ({ rowCount, columns }) => {
    for (let row = 0; row < rowCount; row += 1) {
      for (const [i, column] of columns.entries()) {
        if (i > 0) out.put(',');
        if (isValid(column.validity, row)) putCell(out, types[i] as ColumnType, column, row);
      }
      out.put('\n');
    }
    await sink(out.view());
    [out, given] = [given, out];
    out.clear();
  });
}

function putCell(out: ByteBuffer, type: ColumnType, column: ByteColumn, row: number): void {
  const { bytes, offsets } = column;
  const [start, end] = [offsets[row] as number, offsets[row + 1] as number];
  if (type.kind === 'VARCHAR') putCsvText(out, bytes, start, end);
  else if (asTheyAre.has(type.kind)) out.putBytes(bytes, start, end);
  else {
    const text = Buffer.from(csvCell(type, readByteText(column, row)) ?? '');
    if (type.kind === 'JSON') putCsvText(out, text, 0, text.length);
    else out.putBytes(text, 0, text.length);
  }
}
