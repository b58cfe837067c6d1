import { type AnyColumn, getTableColumns, type Table } from 'drizzle-orm';

/**
 * SQL: the columns of a table, each under its name in the code, as the query builder reads them. For statements that are written
 * by hand, so that a new column cannot be forgotten in them.
 */
export function selectColumns<T extends Table>(table: T, alias: string, leaveOut: (keyof T['_']['columns'])[] = []): string {
  const left = new Set<PropertyKey>(leaveOut);
  return Object.entries(getTableColumns(table))
    .filter(([name]) => !left.has(name))
    .map(([name, column]) => `${readColumn(column, alias)} AS "${name}"`)
    .join(', ');
}

/** SQL: some columns as one JSON object. */
export function buildJson(columns: Record<string, AnyColumn>, alias: string): string {
  return `json_build_object(${Object.entries(columns).map(([name, column]) => `'${name}', ${alias}."${column.name}"`)})`;
}

/** The driver gives big integers as text; those of the schema are numbers that fit. */
function readColumn(column: AnyColumn, alias: string): string {
  const value = `${alias}."${column.name}"`;
  return column.getSQLType() === 'bigint' ? `${value}::float8` : value;
}
