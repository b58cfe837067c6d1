import { getTableColumns, getTableName, type InferInsertModel, type Table } from 'drizzle-orm';
import type { Tx } from './commit.ts';

/**
 * Inserts rows column by column, as arrays. To put together and to read a statement with a parameter for each field takes longer
 * than the insert itself, if a file makes fifty tables. All rows have the same fields; columns without one get their defaults.
 */
export async function insertRows<T extends Table>(tx: Tx, table: T, rows: InferInsertModel<T>[]): Promise<void> {
  const records = rows as Record<string, unknown>[];
  const given = Object.entries(getTableColumns(table)).filter(([name]) => records.some((row) => row[name] !== undefined));
  if (given.length === 0) return;
  const values = given.map(([name, column]) =>
    records.map((row) => {
      const value = row[name];
      if (value === undefined) throw new Error(`a row without ${name} among rows that have it`);
      return value === null ? null : column.mapToDriverValue(value);
    }),
  );
  const columns = given.map(([, { name }]) => `"${name}"`).join(', ');
  const arrays = given.map(([, column], i) => `$${i + 1}::${column.getSQLType()}[]`).join(', ');
  await tx.client.query(`INSERT INTO "${getTableName(table)}" (${columns}) SELECT * FROM unnest(${arrays})`, values);
}
