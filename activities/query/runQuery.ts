import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { Relation } from '../../store/duckdb/relation.ts';
import type { SandboxResult } from '../../store/duckdb/sandbox/sandbox.ts';
import { insertResult, type ResultRecord } from '../../store/pg/results.ts';
import { listCurrentTables, listTables, type TableAt } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId, type Services } from '../../store/services.ts';
import { resolveTablesAt } from '../snapshots/resolveAt.ts';
import { openRelation } from '../tables/openTable.ts';

export interface QueryWanted {
  sql: string;
  params: unknown[] | Record<string, unknown> | null;
  limit: number;
  timeoutMs: number;
  /** A version label or snapshot id; null: the current state. */
  at: string | null;
}

export interface QueryAnswer {
  result: ResultRecord;
  /** The first rows, as the text of a JSON array. */
  pageJson: string;
  more: boolean;
  elapsedMs: number;
}

const dayMs = 24 * 3_600_000;
const resultLimits = { maxRows: 5_000_000, maxBytes: 512 * 1024 * 1024 };

/** Runs a stranger's SELECT over the tables it names and keeps the result for a day. */
export async function runQuery(
  services: Services,
  principal: Principal,
  workbook: VisibleWorkbook,
  wanted: QueryWanted,
): Promise<QueryAnswer> {
  const sandbox = await services.sandbox();
  const source = await openSource(services, workbook, wanted.at);
  const plan = await sandbox.analyze({ accountId: workbook.accountId, sql: wanted.sql, tables: source.names.map((name) => ({ name })) });
  const tables = await source.open(plan.tables);
  const relations = await Promise.all(tables.map((at) => openRelation(services, at, principal)));
  const blobs = await services.blobs.open(relations.flatMap((relation) => relation.files));
  let answer: SandboxResult;
  try {
    answer = await sandbox.run({
      accountId: workbook.accountId,
      sql: wanted.sql,
      ...(wanted.params === null ? {} : { params: wanted.params as never }),
      relations,
      pathOf: blobs.pathOf,
      pageLimit: wanted.limit,
      timeoutMs: wanted.timeoutMs,
      keepResult: true,
      ...resultLimits,
    });
  } finally {
    blobs.release();
  }
  if (answer.resultFile === null) throw new Error('the sandbox kept no result');
  const { key } = await services.blobs.put(`${workbook.accountId}/${workbook.id}/results`, answer.resultFile, 'parquet');
  const createdAt = new Date();
  const result: ResultRecord = {
    id: makeId('res'),
    accountId: workbook.accountId,
    workbookId: workbook.id,
    userId: principal.userId,
    blobKey: key,
    columns: answer.columns,
    rowCount: answer.rowCount,
    maskedColumns: maskedAmong(relations, answer.columns),
    tables: tables.map((at) => ({ id: at.table.id, name: at.table.name, edit_version: at.editVersion, uid: at.versionUid })),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + dayMs),
  };
  await insertResult(services.db.orm, result);
  return { result, pageJson: answer.pageJson, more: answer.more, elapsedMs: answer.elapsedMs };
}

/** Where the tables of a query come from: the workbook as it is, or as it was. All versions are taken in one statement. */
export async function openSource(
  services: Services,
  workbook: VisibleWorkbook,
  at: string | null,
): Promise<{ names: string[]; open(names: string[]): Promise<TableAt[]> }> {
  if (at !== null) {
    const tables = await resolveTablesAt(services, workbook.id, at);
    return {
      names: tables.map(({ table }) => table.name),
      open: async (names) => tables.filter(({ table }) => names.includes(table.name)),
    };
  }
  const tables = await listTables(services.db.orm, { workbookId: workbook.id, state: 'active' });
  return {
    names: tables.map((table) => table.name),
    async open(names) {
      const found = names.length === 0 ? [] : await listCurrentTables(services.db.pool, workbook.id, names);
      if (found.length < names.length)
        throw new DomainError('query-failed', 'A table went away while the query was being prepared.', 'Send the query again.');
      return found;
    },
  };
}

function maskedAmong(relations: Relation[], columns: { name: string }[]): string[] {
  const masked = new Set(relations.flatMap((relation) => relation.columns.filter((column) => column.masked).map((column) => column.name)));
  return columns.map((column) => column.name).filter((name) => masked.has(name));
}
