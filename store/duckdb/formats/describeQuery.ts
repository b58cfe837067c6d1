import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { makeUnique } from '../../../core/sql/identifiers.ts';

export interface QueryColumn {
  /** Unique among the columns, in every format. */
  name: string;
  type: DuckDBType;
}

export type QueryParams = DuckDBValue[] | Record<string, DuckDBValue>;

/** The columns of a SELECT, without running it. */
export async function describeQuery(connection: DuckDBConnection, sql: string, params?: QueryParams): Promise<QueryColumn[]> {
  const statement = await connection.prepare(sql);
  try {
    return readColumns(statement) ?? (await describeBound(connection, sql, params));
  } finally {
    statement.destroySync();
  }
}

/** Null when a type depends on a parameter that has no value yet. */
function readColumns(statement: DuckDBPreparedStatement): QueryColumn[] | null {
  const indexes = Array.from({ length: statement.columnCount }, (_, i) => i);
  if (indexes.some((i) => statement.columnTypeId(i) === 0)) return null;
  const names = makeUnique(indexes.map((i) => statement.columnName(i)));
  return names.map((name, i) => ({ name, type: statement.columnType(i) }));
}

/** DESCRIBE gives the names as they were written, an empty result the types. */
async function describeBound(connection: DuckDBConnection, sql: string, params?: QueryParams): Promise<QueryColumn[]> {
  const described = await connection.runAndReadAll(`DESCRIBE ${sql}`, params);
  const names = makeUnique(described.getRows().map(([name]) => String(name)));
  const empty = await connection.run(`SELECT * FROM (${sql}\n) LIMIT 0`, params);
  return empty.columnTypes().map((type, i) => ({ name: names[i] ?? `column${i}`, type }));
}
