import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { csvCell, guardText, writeCsvLine } from '../../core/cells/csvText.ts';
import type { Sink } from '../../store/blobs/spool.ts';
import type { Services } from '../../store/services.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { eachTextBatch } from '../../store/tables/readTextBatches.ts';
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
  const isText = types.map(({ kind }) => kind === 'VARCHAR' || kind === 'JSON');
  const header = writeCsvLine(projection.columns.map(({ name }) => guardText(name)));
  await sink(Buffer.from((csvBom ? '\ufeff' : '') + header));
  await eachTextBatch(services, projection, async ({ rowCount, texts }) => {
    const lines: string[] = [];
    for (let row = 0; row < rowCount; row += 1) {
      const cells = types.map((type, i) => {
        const cell = csvCell(type, texts[i]?.[row] ?? null);
        return cell !== null && isText[i] ? guardText(cell) : cell;
      });
      lines.push(writeCsvLine(cells));
    }
    await sink(Buffer.from(lines.join('')));
  });
}
