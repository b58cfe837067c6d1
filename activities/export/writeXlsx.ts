import { MAX_COLUMNS, MAX_ROWS } from '../../core/a1/address.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { DomainError } from '../../core/errors.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import type { Sink } from '../../store/blobs/spool.ts';
import type { Services } from '../../store/services.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { eachTextBatch } from '../../store/tables/readTextBatches.ts';
import { TextTooLong } from '../../store/xlsx/write/cellXml.ts';
import { chooseSheetNames } from '../../store/xlsx/write/chooseNames.ts';
import { WorkbookWriter } from '../../store/xlsx/write/workbookWriter.ts';
import { mayBeHuge } from './mayBeHuge.ts';
import { openAnnotations } from './openAnnotations.ts';

const otherFormat = 'Export it as csv or parquet.';

/** Writes a workbook with a sheet for each table. */
export async function writeXlsx(
  services: Services,
  projections: Projection[],
  { branchId }: { branchId: string | null },
  sink: Sink,
): Promise<{ formulas: number }> {
  for (const projection of projections) requireFits(projection);
  const names = chooseSheetNames(projections.map(({ visible }) => visible.at.table.name));
  const writer = new WorkbookWriter(sink);
  for (const [i, projection] of projections.entries()) await writeSheet(services, writer, names[i] as string, projection);
  await writer.finish(branchId === null ? [] : [{ name: 'svc_branch_id', value: branchId }]);
  return { formulas: 0 };
}

async function writeSheet(services: Services, writer: WorkbookWriter, name: string, projection: Projection): Promise<void> {
  const { visible, columns } = projection;
  const annotations = await openAnnotations(services, visible, columns);
  const sheet = await writer.openSheet({
    name,
    columns: columns.map((column) => ({
      name: column.name,
      type: parseColumnType(column.type) as ColumnType,
      look: annotations.lookOf(column),
    })),
    isHuge: mayBeHuge(projection),
  });
  // Annotations are found by row id, which comes last and is not written unless it is wanted.
  const hasIds = columns.at(-1)?.id === rowIdField.id;
  const read = hasIds ? projection : { visible, columns: [...columns, rowIdField] };
  try {
    await eachTextBatch(services, read, async (batch) => {
      await sheet.write(batch, await annotations.next((batch.texts.at(-1) ?? []).map(Number)));
    });
  } catch (error) {
    if (!(error instanceof TextTooLong)) throw error;
    throw new DomainError(
      'too-large',
      `The text that would stand in ${error.ref} of the sheet ${name} is longer than the 32,767 characters that a cell of a workbook holds.`,
      otherFormat,
    );
  }
  await sheet.end();
}

function requireFits({ visible: { at }, columns }: Projection): void {
  const most = at.rowCount > MAX_ROWS - 1 ? `${MAX_ROWS - 1} rows` : columns.length > MAX_COLUMNS ? `${MAX_COLUMNS} columns` : null;
  if (most === null) return;
  throw new DomainError('too-large', `The table ${at.table.name} has more than the ${most} that a sheet holds.`, otherFormat);
}
