import { type Layer, rowIdColumn } from '../../core/table/table.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { fieldIds, innerName } from '../../store/duckdb/buildRelation.ts';
import { writeSelect } from '../../store/duckdb/writeFile.ts';
import { commit } from '../../store/pg/commit.ts';
import { insertTable } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId, type Services } from '../../store/services.ts';

/** A column whose value is told in SQL, by the row's id `i`. */
export interface ComputedColumn {
  name: string;
  type: string;
  sql: string;
}

const actor = { name: 'large table', userId: null, credential: 'none', requestId: 'large-table' };

/** A table of so many rows, in segments as an ingest makes them; returns its id. */
export async function makeLargeTable(
  services: Services,
  workbook: VisibleWorkbook,
  wanted: { name: string; columns: ComputedColumn[]; rows: number; rowsPerFile: number },
): Promise<string> {
  const { name, columns, rows, rowsPerFile } = wanted;
  const place = { id: makeId('tbl'), workbookId: workbook.id, accountId: workbook.accountId };
  const fields = [
    { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' },
    ...columns.map((column, i) => ({ id: i + 1, name: innerName(i + 1), type: column.type })),
  ];
  const list = columns.map((column, i) => `CAST(${column.sql} AS ${column.type}) AS ${innerName(i + 1)}`).join(', ');
  const layers: Layer[] = [];
  for (let minRow = 1; minRow <= rows; minRow += rowsPerFile) {
    const maxRow = Math.min(rows, minRow + rowsPerFile - 1);
    const select = `SELECT i AS ${rowIdColumn}, ${list} FROM range(${minRow}, ${maxRow + 1}) AS r(i)`;
    const file = await services.engine.use((connection) => writeSelect(services, tablePrefix(place), fields, connection, select));
    layers.push({ kind: 'segment', ...file, rows: maxRow - minRow + 1, minRow, maxRow });
  }
  await commit(
    services,
    actor,
    (tx) =>
      insertTable(tx, {
        ...place,
        name,
        layer: 'base',
        versionUid: makeId('ver'),
        manifestId: makeId('mft'),
        columns: columns.map((column) => ({ name: column.name, type: column.type })),
        layers: [...layers, { kind: 'log', after: 1, upTo: null }],
        rowCount: rows,
        nextRowId: rows + 1,
      }),
    async () => {},
  );
  return place.id;
}
