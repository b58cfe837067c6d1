import type { Readable } from 'node:stream';
import { rowIdField, type VisibleColumn, type VisibleTable } from '../../core/table/visibleTable.ts';
import type { DataFormat } from '../../store/duckdb/formats/streamRows.ts';
import type { Services } from '../../store/services.ts';
import { streamTable } from '../../store/tables/streamTable.ts';
import { chooseColumns } from './rowsQuery.ts';

export interface TableData {
  columns: VisibleColumn[];
  stream: Readable;
}

/** All rows of a version in row order. */
export async function readTableData(
  services: Services,
  visible: VisibleTable,
  query: { columns?: string[] },
  format: DataFormat,
): Promise<TableData> {
  const columns = chooseColumns([...visible.columns, rowIdField], query.columns);
  return { columns, stream: await streamTable(services, { visible, columns }, format) };
}
