import type { RowsPage } from '../../activities/rows/rowsQuery.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { components } from '../../schema/contract.ts';
import type { DataFormat } from '../../store/duckdb/formats/streamRows.ts';
import { encodeNames, presentAttachment } from './formats.ts';
import { writeObject } from './writeObject.ts';

/** What is said of rows, beside the rows. */
export type ShownRows = Pick<RowsPage, 'columns' | 'rowCount' | 'nextCursor'>;

export function presentRowsHead(
  at: TableAt,
  { columns, rowCount, nextCursor }: ShownRows,
): Omit<components['schemas']['RowsPage'], 'rows'> {
  return {
    name: at.table.name,
    edit_version: at.editVersion,
    columns: columns.map(({ name, type }) => ({ name, type })),
    row_count: rowCount,
    next_cursor: nextCursor,
    masked_columns: maskedNames(columns),
  };
}

export function writeRowsPage(at: TableAt, page: RowsPage): string {
  return writeObject(presentRowsHead(at, page), { rows: page.rows });
}

/** The same for formats that hold only rows. */
export function presentRowsHeaders({ editVersion }: TableAt, { columns, rowCount, nextCursor }: ShownRows): Record<string, string> {
  return {
    'X-SVC-Edit-Version': String(editVersion),
    'X-SVC-Row-Count': String(rowCount),
    'X-SVC-Masked-Columns': encodeNames(maskedNames(columns)),
    ...(nextCursor === null ? {} : { 'X-SVC-Next-Cursor': nextCursor }),
  };
}

function maskedNames(columns: ShownRows['columns']): string[] {
  return columns.filter((column) => column.masked).map((column) => column.name);
}

const extensions: Record<DataFormat, string> = { json: 'json', ndjson: 'ndjson', arrow: 'arrows', csv: 'csv', parquet: 'parquet' };

/** The name to save a table under. */
export function presentFileName(tableName: string, format: DataFormat): string {
  return presentAttachment(`${tableName}.${extensions[format]}`);
}
