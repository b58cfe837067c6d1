import type { Readable } from 'node:stream';
import type { Principal } from '../../core/access/principal.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { type ByteBatch, decodeBatch, readRowIds } from '../../core/table/textBatch.ts';
import { rowIdField, type VisibleTable } from '../../core/table/visibleTable.ts';
import { spoolFile } from '../../store/blobs/spool.ts';
import type { SheetRecord } from '../../store/pg/sheets.ts';
import type { Services } from '../../store/services.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { eachByteBatch } from '../../store/tables/readByteBatches.ts';
import { chooseSheetNames, cleanFileName } from '../../store/xlsx/write/chooseNames.ts';
import { fitWidths } from '../../store/xlsx/write/columnWidths.ts';
import type { ComposedLayout, ComposedSheet } from '../../store/xlsx/write/composedSheet.ts';
import { WorkbookWriter } from '../../store/xlsx/write/workbookWriter.ts';
import { mayBeHuge } from '../export/mayBeHuge.ts';
import { openAnnotations } from '../export/openAnnotations.ts';
import { describeColumns, explainLongText } from '../export/sheetColumns.ts';
import { countRows, type PlannedBlock, planSheet } from './planSheet.ts';

/** Rows of a table that the widths are fitted to, at most. */
const sampleRows = 200;
/** Where more rows stayed in view, few would be left to scroll. */
const mostFrozenRows = 15;

export interface RenderedSheet {
  body: Readable;
  bytes: number;
  filename: string;
  shown: VisibleTable[];
}

/** Writes the sheet with its tables as they are now. Rows are read and written some at a time, whatever the size of the tables. */
export async function renderSheet(
  services: Services,
  principal: Principal,
  sheet: SheetRecord,
  signal?: AbortSignal,
): Promise<RenderedSheet> {
  const { blocks, shown } = await planSheet(services, principal, sheet);
  const [name] = chooseSheetNames([sheet.name]) as [string];
  const { body, bytes } = await spoolFile(services.blobs, signal, async (sink) => {
    const writer = new WorkbookWriter(sink);
    const isHuge = mayBeHuge(...blocks.flatMap((block) => (block.kind === 'table' ? [block.projection] : [])));
    const composed = await writer.composeSheet(name, await layOut(services, blocks), isHuge);
    try {
      for (const block of blocks) await writeBlock(services, composed, block);
    } catch (error) {
      throw explainLongText(error, name, 'Leave the column out of the sheet, or export the table as csv or parquet.');
    }
    await composed.end();
    await writer.finish({ title: sheet.title ?? sheet.name });
  });
  return { body, bytes, filename: `${cleanFileName(sheet.name)}.xlsx`, shown };
}

/** Several tables have columns in common, which are as wide as the widest needs. */
async function layOut(services: Services, blocks: PlannedBlock[]): Promise<ComposedLayout> {
  const widths: number[] = [];
  const headers: number[] = [];
  let row = 0;
  for (const block of blocks) {
    if (block.kind === 'table') {
      headers.push(row + 1);
      for (const [i, width] of (await measureTable(services, block)).entries()) widths[i] = Math.max(widths[i] ?? 0, width);
    }
    row += countRows(block);
  }
  const [header = 0] = headers;
  const isOnly = headers.length === 1;
  return { widths, frozenRows: isOnly && header <= mostFrozenRows ? header : 0, hasFilter: isOnly };
}

interface PlannedTable {
  projection: Projection;
  limit: number;
}

async function measureTable(services: Services, { projection, limit }: PlannedTable): Promise<number[]> {
  const columns = projection.columns.map(({ name, type }) => ({ name, type: parseColumnType(type) as ColumnType }));
  let widths = fitWidths(columns, []);
  const take = async (batch: ByteBatch) => {
    widths = fitWidths(columns, decodeBatch(batch).texts).map((width, i) => Math.max(width, widths[i] ?? 0));
  };
  if (limit > 0) await eachByteBatch(services, projection, take, Math.min(limit, sampleRows));
  return widths;
}

async function writeBlock(services: Services, sheet: ComposedSheet, block: PlannedBlock): Promise<void> {
  switch (block.kind) {
    case 'text':
      return sheet.writeText(block.text, block.look);
    case 'blank':
      return sheet.skipRows(block.rows);
    case 'table':
      return writeTable(services, sheet, block);
  }
}

async function writeTable(services: Services, sheet: ComposedSheet, { projection, limit }: PlannedTable): Promise<void> {
  const { visible, columns } = projection;
  const annotations = await openAnnotations(services, visible, columns);
  const write = sheet.openTable(describeColumns(columns, annotations));
  if (limit === 0) return;
  // Annotations are found by row id, which comes last and is not written.
  const read = { visible, columns: [...columns, rowIdField] };
  await eachByteBatch(services, read, async (batch) => write(batch, await annotations.next(readRowIds(batch))), limit);
}
