import { type ColumnType, formatColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { type ColumnRecord, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { cleanCast } from '../duckdb/cleanCast.ts';
import { readAll } from '../duckdb/engine.ts';
import { quoteName } from '../duckdb/relation.ts';
import { queryTable } from './openRelation.ts';
import { keepNamed } from './projection.ts';
import type { TableStorage } from './tableStorage.ts';

/** A column of rewritten rows. `sql` is an expression over the table's current column names. */
export interface WrittenColumn {
  id: number;
  type: string;
  sql: string;
  /** The only column that `sql` uses. */
  of: ColumnRecord;
}

/** All columns unchanged. */
export function keepColumns(at: TableAt): WrittenColumn[] {
  return at.columns.map((column) => ({ id: column.id, type: column.type, sql: quoteName(column.name), of: column }));
}

export const isKept = ({ sql, of }: WrittenColumn) => sql === quoteName(of.name);

/** All columns, one of them cast to another type with a new id. */
export function castColumn(at: TableAt, column: ColumnRecord, to: { id: number; type: ColumnType }): WrittenColumn[] {
  const cast = { id: to.id, type: formatColumnType(to.type), sql: castOf(column, to.type).value, of: column };
  return keepColumns(at).map((each) => (each.id === column.id ? cast : each));
}

/** The first value that cannot be cast without loss. Null: all can. */
export async function findUncastable(
  storage: TableStorage,
  at: TableAt,
  column: ColumnRecord,
  type: ColumnType,
): Promise<{ rowId: number; text: string } | null> {
  const { unclean } = castOf(column, type);
  const [row] = await queryTable(storage, keepNamed(seeEverything(at), [column.name]), null, (connection, from) =>
    readAll(
      connection,
      `SELECT CAST(${rowIdColumn} AS DOUBLE), CAST(${quoteName(column.name)} AS VARCHAR) FROM ${from} WHERE ${unclean} ORDER BY ${rowIdColumn} LIMIT 1`,
    ),
  );
  return row ? { rowId: row[0] as number, text: row[1] as string } : null;
}

const castOf = (column: ColumnRecord, type: ColumnType) =>
  cleanCast(quoteName(column.name), parseColumnType(column.type) as ColumnType, type);
