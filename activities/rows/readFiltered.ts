import { rm } from 'node:fs/promises';
import type { Principal } from '../../core/access/principal.ts';
import { encodeCursor } from '../../core/paging.ts';
import { rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import { streamFile } from '../../store/duckdb/engine.ts';
import { openFiles, quoteName, type RelationColumn } from '../../store/duckdb/relation.ts';
import { pageSeparator } from '../../store/duckdb/sandbox/protocol.ts';
import { selectResult } from '../../store/duckdb/sandbox/resultTypes.ts';
import type { SandboxResult } from '../../store/duckdb/sandbox/sandbox.ts';
import type { TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openRelation } from '../tables/openTable.ts';
import { decodePlace, type RowsPage, type RowsQuery } from './rowsQuery.ts';

const limits = { timeoutMs: 10_000, maxRows: 10_001, maxBytes: 256 * 1024 * 1024 };

/** A filter is a stranger's SQL: it runs where theirs runs, over this one table. */
export async function readFiltered(
  services: Services,
  principal: Principal,
  at: TableAt,
  query: RowsQuery & { filter: string },
  columns: RelationColumn[],
  order: string[],
): Promise<RowsPage> {
  const offset = decodePlace(at, query);
  const relation = await openRelation(services, at, principal);
  const sandbox = await services.sandbox();
  const { accountId } = at.table;
  const table = quoteName(relation.name);
  const known = [{ name: relation.name, columns: relation.columns.map((column) => column.name) }];
  // Text that is well-formed in both places can only be one expression: what closes the bracket early in one breaks the
  // other, and after AND no subquery can stand without brackets of its own.
  await sandbox.analyze({ accountId, sql: `SELECT CASE WHEN (true AND\n${query.filter}\n) THEN 1 END FROM ${table}`, tables: known });
  const where = `FROM ${table} WHERE (\n${query.filter}\n)`;
  const names = columns.map((column) => quoteName(column.name)).join(', ');
  const page = `SELECT ${names} ${where} ORDER BY ${[...order, rowIdColumn].join(', ')} LIMIT ${query.limit} OFFSET ${offset}`;
  const blobs = await openFiles(services.blobs, [relation]);
  const run = (sql: string, keepResult: boolean): Promise<SandboxResult> =>
    sandbox.run({ accountId, sql, relations: [relation], pathOf: blobs.pathOf, pageLimit: query.limit, keepResult, ...limits });
  try {
    const counted = await run(`SELECT count(*) AS n ${where}`, false);
    const rowCount = Number((JSON.parse(counted.pageJson) as [{ n: number | string }])[0].n);
    const rows = await run(page, false);
    return {
      columns,
      rows: splitRows(rows.pageJson),
      rowCount,
      nextCursor: offset + query.limit < rowCount ? encodeCursor([offset + query.limit, at.editVersion]) : null,
      stream: (format) => streamAgain(services, () => run(page, true), format),
    };
  } finally {
    blobs.release();
  }
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
