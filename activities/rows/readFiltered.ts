import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { DomainError, type ProblemCode } from '../../core/errors.ts';
import { encodeCursor } from '../../core/paging.ts';
import { explainFilterError } from '../../core/sql/explainFilter.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import type { DataFormat } from '../../store/duckdb/formats/streamRows.ts';
import { openFiles } from '../../store/duckdb/relation.ts';
import { pageSeparator } from '../../store/duckdb/sandbox/protocol.ts';
import type { SandboxResult } from '../../store/duckdb/sandbox/runInProcess.ts';
import { streamResultFile } from '../../store/duckdb/sandbox/streamResult.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import type { Services } from '../../store/services.ts';
import { wrapFilter } from '../../store/tables/filterSql.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { mostPageBytes, smallerPage } from '../../store/tables/pageSize.ts';
import { keepNamed, type Projection } from '../../store/tables/projection.ts';
import type { OrderTerm } from '../../store/tables/readPage.ts';
import { streamWideRows } from '../../store/tables/streamWideRows.ts';
import { readWideRows } from '../../store/tables/wideRows.ts';
import { describeTooWide, mostQueried } from '../query/narrowTables.ts';
import { decodePosition, type OpenedPage, positionKey, type RowsQuery } from './rowsQuery.ts';

const limits = { timeoutMs: 10_000, maxRows: 10_001, maxBytes: mostPageBytes };

/** A filter is untrusted SQL, so it runs in the sandbox, on this table only. */
export async function readFiltered(
  services: Services,
  projection: Projection,
  query: RowsQuery & { filter: string },
  order: OrderTerm[],
): Promise<OpenedPage> {
  const { visible, columns } = projection;
  const { at } = visible;
  const offset = decodePosition(at, query) ?? query.offset ?? 0;
  const sandbox = await services.sandbox();
  const { userId } = query;
  const known = [{ name: at.table.name, columns: [...visible.columns, rowIdField].map((column) => column.name) }];
  const sql = wrapFilter(at.table.name, query.filter);
  const used = await sandbox.analyze({ userId, sql: sql.probe, tables: known }).catch(blameFilter(sql.probe, query.filter));
  if (used.parameters.length > 0)
    throw refuseFilter('query-refused', [`A filter takes no parameters; write the value in place of $${used.parameters[0]}.`]);
  // For wide tables the filter finds row ids, and the rows are then read by id.
  const wide = isWide(columns);
  const selected = wide ? [rowIdColumn] : columns.map((column) => column.name);
  const needed = used.allColumns ? visible : keepNamed(visible, [...used.columns, ...selected, ...order.map(({ name }) => name)]);
  if (needed.columns.length > mostQueried) throw refuseFilter('query-too-large', [describeTooWide(needed)]);
  const relation = await openRelation(services, needed);
  const run = async (statement: string, keepResult: boolean): Promise<SandboxResult> => {
    const { pathOf, release } = await openFiles(services.blobs, [relation]);
    try {
      return await sandbox.run({ userId, sql: statement, relations: [relation], pathOf, pageLimit: query.limit, keepResult, ...limits });
    } catch (error) {
      return blameFilter(statement, query.filter)(error);
    } finally {
      release();
    }
  };
  const counted = await run(sql.count, false);
  const rowCount = Number((JSON.parse(counted.pageJson) as [{ n: number | string }])[0].n);
  const page = sql.page(selected, order, query.limit, offset);
  const found = await run(page, !wide);
  const common = {
    columns,
    rowCount,
    nextCursor: offset + query.limit < rowCount ? encodeCursor(positionKey(at, query, offset + query.limit)) : null,
  };
  if (found.pageJson === '') return { ...common, rows: null, stream: (format) => streamFound(services, found, format) };
  const rows = splitRows(found.pageJson);
  if (!wide) {
    await rm(found.resultFile ?? '', { force: true });
    return { ...common, rows, stream: async (format) => streamFound(services, await run(page, true), format) };
  }
  const ids = rows.map((row) => (JSON.parse(row) as { [rowIdColumn]: number })[rowIdColumn]);
  return {
    ...common,
    rows: (await readWideRows(services, projection, ids)).map(({ json }) => json),
    stream: (format) => streamWideRows(services, projection, ids, format),
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

/** Each row is a line of the page. Parsing it as JSON would lose digits of numbers in JSON columns. */
function splitRows(pageJson: string): string[] {
  return pageJson === '[]' ? [] : pageJson.slice(1, -1).split(pageSeparator);
}

/** The page from the query's result file, which goes with the stream. */
function streamFound(services: Services, { resultFile, columns, rowCount }: SandboxResult, format: DataFormat): Promise<Readable> {
  if (resultFile === null) throw new Error('the sandbox kept no result');
  const open = async () => ({ path: resultFile, release: () => rm(resultFile, { force: true }) });
  return streamResultFile(services, columns, open, format, { offset: 0, limit: rowCount });
}
