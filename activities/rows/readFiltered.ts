import { DomainError, type ProblemCode } from '../../core/errors.ts';
import { encodeCursor } from '../../core/paging.ts';
import { explainFilterError } from '../../core/sql/explainFilter.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import { openFiles } from '../../store/duckdb/relation.ts';
import type { Services } from '../../store/services.ts';
import { wrapFilter } from '../../store/tables/filterSql.ts';
import { isFew } from '../../store/tables/lookUpRows.ts';
import { openSandboxRelation } from '../../store/tables/openSandboxRelation.ts';
import { mostPageBytes, smallerPage } from '../../store/tables/pageSize.ts';
import { keepNamed, type Projection } from '../../store/tables/projection.ts';
import { type OrderTerm, readRowsByIds, streamRowsByIds } from '../../store/tables/readPage.ts';
import { describeTooWide, mostQueried } from '../query/narrowTables.ts';
import { decodePosition, type OpenedPage, positionKey, type RowsQuery } from './rowsQuery.ts';

const limits = { timeoutMs: 10_000, maxRows: 10_001, maxBytes: mostPageBytes };

/**
 * A filter is untrusted SQL, so it runs in the sandbox, on this table only. It finds the ids of a page; the rows are then read as
 * any others. Sorting by long values is done there as well, because it takes much memory.
 */
export async function readFiltered(
  services: Services,
  projection: Projection,
  query: RowsQuery,
  filter: string,
  order: OrderTerm[],
): Promise<OpenedPage> {
  const { visible, columns } = projection;
  const { at } = visible;
  const offset = decodePosition(at, query) ?? query.offset ?? 0;
  const sandbox = await services.sandbox();
  const { userId } = query;
  const known = [{ name: at.table.name, columns: [...visible.columns, rowIdField].map((column) => column.name) }];
  const sql = wrapFilter(at.table.name, filter);
  const used = await sandbox.analyze({ userId, sql: sql.probe, tables: known }).catch(blameFilter(sql.probe, filter));
  if (used.parameters.length > 0)
    throw refuseFilter('query-refused', [`A filter takes no parameters; write the value in place of $${used.parameters[0]}.`]);
  const needed = used.allColumns ? visible : keepNamed(visible, [...used.columns, rowIdColumn, ...order.map(({ name }) => name)]);
  if (needed.columns.length > mostQueried) throw refuseFilter('query-too-large', [describeTooWide(needed)]);
  const relation = await openSandboxRelation(services, needed);
  const run = async (statement: string): Promise<unknown[]> => {
    const { pathOf, release } = await openFiles(services.blobs, [relation]);
    try {
      const asked = { userId, sql: statement, relations: [relation], pathOf, pageLimit: query.limit, keepResult: false, ...limits };
      return JSON.parse((await sandbox.run(asked)).pageJson.toString()) as unknown[];
    } catch (error) {
      return blameFilter(statement, filter)(error);
    } finally {
      release();
    }
  };
  const [{ n }] = (await run(sql.count)) as [{ n: number | string }];
  const rowCount = Number(n);
  const found = (await run(sql.page(order, query.limit, offset))) as { [rowIdColumn]: number }[];
  const ids = found.map((row) => row[rowIdColumn]);
  return {
    columns,
    rowCount,
    nextCursor: offset + query.limit < rowCount ? encodeCursor(positionKey(at, query, offset + query.limit)) : null,
    rows: isFew(projection, ids.length) ? (await readRowsByIds(services, projection, ids)).map(({ json }) => json) : null,
    stream: (format) => streamRowsByIds(services, projection, ids, format),
  };
}

/** Rewrites errors of the whole query as errors of the filter, which is all that the caller wrote. */
function blameFilter(sql: string, filter: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DomainError) || !error.code.startsWith('query-')) throw error;
    throw refuseFilter(
      error.code,
      (error.extras.errors ?? [error]).map(({ detail }) => explainFilterError(detail, sql, filter)),
      error,
    );
  };
}

const fixes: Partial<Record<ProblemCode, string>> = {
  'query-too-large': smallerPage,
  'query-timeout': 'Write a filter that is less work.',
};

function refuseFilter(code: ProblemCode, details: string[], cause?: unknown): DomainError {
  return new DomainError(
    code,
    details[0] ?? 'The filter failed.',
    fixes[code] ?? 'Write one boolean expression over the columns of this table, such as 金額 >= 100000; GET …/columns lists them.',
    { errors: details.map((detail) => ({ pointer: '/query/filter', detail })), cause },
  );
}
