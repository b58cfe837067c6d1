import { type DomainError, notFound } from '../../core/errors.ts';
import { rowIdField, type VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { readRowById } from '../../store/tables/readRowById.ts';
import { chooseColumns } from './rowsQuery.ts';

export interface ReadRow extends Projection {
  /** A JSON object in text form. */
  json: string;
}

/** One row, with all or some of its columns; 404 if it does not exist. */
export async function readRow(services: Services, visible: VisibleTable, rowId: number, columns: string[] | undefined): Promise<ReadRow> {
  const projection: Projection = { visible, columns: chooseColumns([...visible.columns, rowIdField], columns) };
  const row = await readRowById(services, projection, rowId);
  if (!row) throw missingRow();
  return { ...projection, json: row.json };
}

export function missingRow(): DomainError {
  return notFound('row in this table', 'Read the rows to get their ids.');
}
