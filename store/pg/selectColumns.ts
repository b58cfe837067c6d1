import { type AnyColumn, getTableColumns, type Table } from 'drizzle-orm';

/**
 * SQL: the columns of a table with their names in the code. Derived from the schema, so that statements written by hand cannot
 * forget a new column.
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

/** For rows of a table that come as JSON, in which moments are texts. Changes them. */
export function reviveDates(table: Table): <Row extends object>(row: Row) => Row {
  const dates = Object.entries(getTableColumns(table)).flatMap(([name, { dataType }]) => (dataType === 'date' ? [name] : []));
  return (row) => {
    const fields = row as Record<string, unknown>;
    for (const name of dates) if (typeof fields[name] === 'string') fields[name] = new Date(fields[name]);
    return row;
  };
}

/** The driver returns bigint as text. All of the schema's fit into a double, which it returns as a number. */
function readColumn(column: AnyColumn, alias: string): string {
  const value = `${alias}."${column.name}"`;
  return column.getSQLType() === 'bigint' ? `${value}::float8` : value;
}
