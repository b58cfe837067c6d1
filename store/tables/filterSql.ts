import { rowIdColumn } from '../../core/table/table.ts';
import { quoteName } from '../duckdb/relation.ts';
import { type OrderTerm, orderSql } from './readPage.ts';

/** Statements around a user's filter. They contain the user's SQL, so they must run in the sandbox. */
export interface FilterSql {
  /** Only parsed and bound: it fails unless the filter is a single expression. */
  probe: string;
  count: string;
  /** The ids of the rows. */
  page(order: OrderTerm[], limit: number, offset: number): string;
}

export function wrapFilter(tableName: string, filter: string): FilterSql {
  const table = quoteName(tableName);
  const where = `FROM ${table} WHERE (\n${filter}\n)`;
  return {
    // Text that is valid both here and in parentheses must be a single expression: here it cannot close a parenthesis, there it
    // cannot continue the CASE, and after AND a subquery needs parentheses of its own.
    probe: `SELECT CASE WHEN true AND\n${filter}\nTHEN 1 END FROM ${table}`,
    count: `SELECT count(*) AS n ${where}`,
    page: (order, limit, offset) => `SELECT ${rowIdColumn} ${where} ${orderSql(order)} LIMIT ${limit} OFFSET ${offset}`,
  };
}
