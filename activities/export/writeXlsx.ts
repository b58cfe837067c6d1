import { MAX_COLUMNS, MAX_ROWS } from '../../core/a1/address.ts';
import { DomainError } from '../../core/errors.ts';
import { readRowIds } from '../../core/table/textBatch.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import type { Sink } from '../../store/blobs/spool.ts';
import type { Services } from '../../store/services.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { eachByteBatch } from '../../store/tables/readByteBatches.ts';
import { branchProperty, nameSheetMark } from '../../store/xlsx/branchMarks.ts';
import { chooseSheetNames } from '../../store/xlsx/write/chooseNames.ts';
import type { BatchExtras } from '../../store/xlsx/write/sheetWriter.ts';
import { WorkbookWriter } from '../../store/xlsx/write/workbookWriter.ts';
import { mayBeHuge } from './mayBeHuge.ts';
import { openAnnotations } from './openAnnotations.ts';
import { openFormulas, type RowFormulas, type TableFormulas } from './openFormulas.ts';
import { describeColumns, explainLongText } from './sheetColumns.ts';

const otherFormat = 'Export it as csv or parquet.';

/** Writes a workbook with a sheet for each table. */
export async function writeXlsx(
  services: Services,
  projections: Projection[],
  { branchId, keepFormulas }: { branchId: string | null; keepFormulas: boolean },
  sink: Sink,
): Promise<{ formulas: number }> {
  for (const projection of projections) requireFits(projection);
  const names = chooseSheetNames(projections.map(({ visible }) => visible.at.table.name));
  const kept = keepFormulas ? await openFormulas(services, projections, names) : [];
  const writer = new WorkbookWriter(sink);
  let formulas = 0;
  for (const [i, projection] of projections.entries())
    formulas += await writeSheet(services, writer, { name: names[i] as string, projection, kept: kept[i] ?? null });
  const sheetMarks = names.map((sheet, i) => ({
    sheet,
    name: nameSheetMark(branchId ?? '', (projections[i] as Projection).visible.at.table.id),
  }));
  await writer.finish({
    ...(branchId === null ? {} : { properties: [{ name: branchProperty, value: branchId }], sheetMarks }),
    hasFormulas: formulas > 0,
  });
  return { formulas };
}

interface WantedSheet {
  name: string;
  projection: Projection;
  kept: TableFormulas | null;
}

/** Returns how many formulas it has. */
async function writeSheet(services: Services, writer: WorkbookWriter, { name, projection, kept }: WantedSheet): Promise<number> {
  const { visible, columns } = projection;
  const annotations = await openAnnotations(services, visible, columns);
  const isRaw = kept?.isRaw ?? false;
  const sheet = await writer.openSheet({
    name,
    columns: describeColumns(columns, annotations, isRaw),
    isHuge: mayBeHuge(projection),
  });
  // Annotations and formulas are found by row id, which comes last and is not written unless it is wanted.
  const hasIds = columns.at(-1)?.id === rowIdField.id;
  const read = hasIds ? projection : { visible, columns: [...columns, rowIdField] };
  let count = 0;
  try {
    await eachByteBatch(services, read, async (batch) => {
      const rowIds = readRowIds(batch);
      const looks = await annotations.next(rowIds);
      const formulas = (await kept?.read(rowIds)) ?? new Map();
      for (const row of formulas.values()) count += row.size;
      await sheet.write(batch, formulas.size > 0 ? addFormulas(looks, rowIds, formulas) : looks);
    });
  } catch (error) {
    throw explainLongText(error, name, otherFormat);
  }
  await sheet.end();
  return count;
}

function addFormulas(looks: BatchExtras | null, rowIds: number[], formulas: RowFormulas): BatchExtras {
  const extras = new Map(looks);
  for (const [row, rowId] of rowIds.entries()) {
    const own = formulas.get(rowId);
    if (!own) continue;
    const cells = new Map(extras.get(row));
    for (const [place, formula] of own) cells.set(place, { ...cells.get(place), formula });
    extras.set(row, cells);
  }
  return extras;
}

function requireFits({ visible: { at }, columns }: Projection): void {
  const most = at.rowCount > MAX_ROWS - 1 ? `${MAX_ROWS - 1} rows` : columns.length > MAX_COLUMNS ? `${MAX_COLUMNS} columns` : null;
  if (most === null) return;
  throw new DomainError('too-large', `The table ${at.table.name} has more than the ${most} that a sheet holds.`, otherFormat);
}
