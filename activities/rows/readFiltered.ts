import { rm } from 'node:fs/promises';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError, type ProblemCode } from '../../core/errors.ts';
import type { TableAt } from '../../core/table/table.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { streamFile } from '../../store/duckdb/engine.ts';
import { openFiles, quoteName, type RelationColumn } from '../../store/duckdb/relation.ts';
import { pageSeparator } from '../../store/duckdb/sandbox/protocol.ts';
import { selectResult } from '../../store/duckdb/sandbox/resultTypes.ts';
import type { SandboxResult } from '../../store/duckdb/sandbox/sandbox.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import type { Services } from '../../store/services.ts';
import { keepNamed, mostQueried, tooWide } from '../tables/narrowTable.ts';
import { describeRelation, openRelation } from '../tables/openTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import {
  decodePlace,
  encodePlace,
  mostPageBytes,
  type OrderTerm,
  orderBy,
  type RowsPage,
  type RowsQuery,
  smallerPage,
} from './rowsQuery.ts';
import { readWideRows, streamWideRows } from './wideRows.ts';

const limits = { timeoutMs: 10_000, maxRows: 10_001, maxBytes: mostPageBytes };

/** A filter is a stranger's SQL: it runs where theirs runs, over this one table. */
export async function readFiltered(
  services: Services,
  principal: Principal,
  at: TableAt,
  query: RowsQuery & { filter: string },
  columns: RelationColumn[],
  order: OrderTerm[],
): Promise<RowsPage> {
  const offset = decodePlace(at, query);
  const sandbox = await services.sandbox();
  const { accountId } = at.table;
  const table = quoteName(at.table.name);
  const visible = await describeRelation(services, at, principal);
  const known = [{ name: at.table.name, columns: visible.map((column) => column.name) }];
  // Text that is well-formed in both places can only be one expression: here no bracket is open that it could close, there
  // no CASE that it could go on with, and after AND no subquery can stand without brackets of its own.
  const probe = `SELECT CASE WHEN true AND\n${query.filter}\nTHEN 1 END FROM ${table}`;
  const used = await sandbox.analyze({ accountId, sql: probe, tables: known }).catch(tellOf(probe, query.filter));
  if (used.parameters.length > 0)
    throw refuseFilter('query-refused', [`A filter takes no parameters; write the value in place of $${used.parameters[0]}.`]);
  // Rows of many columns are read by their ids, once it is known which they are.
  const wide = isWide(columns);
  const selected = wide ? [rowIdColumn] : columns.map((column) => column.name);
  const needed = used.allColumns ? at : keepNamed(at, [...used.columns, ...selected, ...order.map(({ name }) => name)]);
  if (needed.columns.length > mostQueried) throw refuseFilter('query-too-large', [tooWide(needed)]);
  const relation = await openRelation(services, await openVisibleTable(services, principal, needed));
  const where = `FROM ${table} WHERE (\n${query.filter}\n)`;
  const page = `SELECT ${selected.map(quoteName).join(', ')} ${where} ${orderBy(order)} LIMIT ${query.limit} OFFSET ${offset}`;
  const run = async (sql: string, keepResult: boolean): Promise<SandboxResult> => {
    const { pathOf, release } = await openFiles(services.blobs, [relation]);
    try {
      return await sandbox.run({ accountId, sql, relations: [relation], pathOf, pageLimit: query.limit, keepResult, ...limits });
    } catch (error) {
      return tellOf(sql, query.filter)(error);
    } finally {
      release();
    }
  };
  const counted = await run(`SELECT count(*) AS n ${where}`, false);
  const rowCount = Number((JSON.parse(counted.pageJson) as [{ n: number | string }])[0].n);
  const rows = splitRows((await run(page, false)).pageJson);
  const common = { columns, rowCount, nextCursor: offset + query.limit < rowCount ? encodePlace(at, query, offset + query.limit) : null };
  if (!wide) return { ...common, rows, stream: (format) => streamAgain(services, () => run(page, true), format) };
  const ids = rows.map((row) => (JSON.parse(row) as { [rowIdColumn]: number })[rowIdColumn]);
  return {
    ...common,
    rows: (await readWideRows(services, principal, at, columns, ids)).map(({ json }) => json),
    stream: () => streamWideRows(services, at, columns, ids),
  };
}

/** What went wrong with the SQL around a filter, as something about the filter: it is all that the caller wrote. */
function tellOf(sql: string, filter: string): (error: unknown) => never {
  const countLines = (text: string) => text.split('\n').length;
  const before = countLines(sql.slice(0, sql.indexOf(`\n${filter}\n`)));
  // The engine quotes what it has not read yet, which goes beyond the filter.
  const tell = (text: string) =>
    text
      .replace(/^(unterminated .*?) at or near "[\s\S]*"/, '$1')
      .replace(/^([\s\S]*) \(line (\d+), column (\d+)\)$/, (_, what: string, line: string, column: string) =>
        Number(line) - before > countLines(filter)
          ? 'The filter ends too early.'
          : `${what} (line ${Number(line) - before}, column ${column})`,
      );
  return (error) => {
    if (!(error instanceof DomainError) || !error.code.startsWith('query-')) throw error;
    throw refuseFilter(
      error.code,
      (error.extras.errors ?? [error]).map(({ detail }) => tell(detail)),
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
    fixes[code] ?? 'Write a boolean expression over the columns of this table; GET …/columns lists them.',
    { errors: details.map((detail) => ({ pointer: '/query/filter', detail })), cause },
  );
}

/** A row is a line of the page; taking it apart as JSON would cost digits of numbers inside JSON columns. */
function splitRows(pageJson: string): string[] {
  return pageJson === '[]' ? [] : pageJson.slice(1, -1).split(pageSeparator);
}

/** The same page again, from the file that the query left. */
async function streamAgain(services: Services, run: () => Promise<SandboxResult>, format: Parameters<RowsPage['stream']>[0]) {
  const { resultFile, columns } = await run();
  if (resultFile === null) throw new Error('the sandbox kept no result');
  return streamFile(
    services.engine,
    format,
    async () => ({ path: resultFile, release: () => rm(resultFile, { force: true }) }),
    (path) => selectResult(path, columns),
  );
}
