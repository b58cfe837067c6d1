import { quoteName } from '../duckdb/relation.ts';
import { type OrderTerm, orderSql } from './readPage.ts';

/** The statements around a filter, which is a stranger's SQL: all of them go to the sandbox. */
export interface FilterSql {
  /** Is refused unless the filter is one expression; nothing is run. */
  probe: string;
  count: string;
  page(columns: string[], order: OrderTerm[], limit: number, offset: number): string;
}

export function wrapFilter(tableName: string, filter: string): FilterSql {
  const table = quoteName(tableName);
  const where = `FROM ${table} WHERE (\n${filter}\n)`;
  return {
    // Text that is well-formed in both places can only be one expression: here no bracket is open that it could close, there
    // no CASE that it could go on with, and after AND no subquery can stand without brackets of its own.
    probe: `SELECT CASE WHEN true AND\n${filter}\nTHEN 1 END FROM ${table}`,
    count: `SELECT count(*) AS n ${where}`,
    page: (columns, order, limit, offset) =>
      `SELECT ${columns.map(quoteName).join(', ')} ${where} ${orderSql(order)} LIMIT ${limit} OFFSET ${offset}`,
  };
}
