import type { Principal } from '../../core/access/principal.ts';
import { encodeCursor } from '../../core/paging.ts';
import { rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import { streamFile } from '../../store/duckdb/engine.ts';
import { quoteName, type RelationColumn } from '../../store/duckdb/relation.ts';
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
  const blobs = await services.blobs.open(relation.files);
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
      stream: (format) => streamAgain(services, at, () => run(page, true), format),
    };
  } finally {
    blobs.release();
  }
}

/** One row a piece: the page is an array of objects. */
function splitRows(pageJson: string): string[] {
  return (JSON.parse(pageJson) as unknown[]).map((row) => JSON.stringify(row));
}

async function streamAgain(services: Services, at: TableAt, run: () => Promise<SandboxResult>, format: Parameters<RowsPage['stream']>[0]) {
  const result = await run();
  if (result.resultFile === null) throw new Error('the sandbox kept no result');
  const { key } = await services.blobs.put(`${at.table.accountId}/${at.table.workbookId}/results`, result.resultFile, 'parquet');
  return streamFile(services.engine, services.blobs, key, format, (path) => selectResult(path, result.columns));
}
