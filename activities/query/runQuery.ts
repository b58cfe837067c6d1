import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { foldName } from '../../core/sql/identifiers.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { resultsPrefix } from '../../store/blobs/keys.ts';
import { openFiles } from '../../store/duckdb/relation.ts';
import { type SandboxResult, TablesMissing } from '../../store/duckdb/sandbox/runInProcess.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import { insertResult, type ResultRecord } from '../../store/pg/results.ts';
import { listActiveNames, listCurrentTables } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId, type Services } from '../../store/services.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { openTablesAt, resolveAt } from '../snapshots/resolveAt.ts';
import { rememberVisible } from '../tables/openVisibleTable.ts';
import { findNamedTables } from './namedTables.ts';
import { narrowTables } from './narrowTables.ts';

export interface QueryWanted {
  sql: string;
  params: unknown[] | Record<string, unknown> | null;
  /** How many of the first rows are wanted as JSON at once. */
  jsonRows: number;
  timeoutMs: number;
  /** Ends the query: nobody wants its result any more. */
  signal?: AbortSignal;
  /** A version label or snapshot id; null: the current state. */
  at: string | null;
}

export interface QueryAnswer {
  result: ResultRecord;
  /** The first rows, as the text of a JSON array. */
  pageJson: string;
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
  const { answer, read } = await runOverNamed(services, workbook, wanted, rememberVisible(services, principal));
  const id = makeId('res');
  const createdAt = new Date();
  const result: ResultRecord = {
    id,
    accountId: workbook.accountId,
    workbookId: workbook.id,
    userId: principal.userId,
    ...(await keepResult(services, workbook, answer)),
    columns: answer.columns,
    rowCount: answer.rowCount,
    elapsedMs: Math.round(answer.elapsedMs),
    maskedColumns: maskedAmong(read, answer.columns),
    tables: read.map(({ at }) => ({ id: at.table.id, name: at.table.name, edit_version: at.editVersion, uid: at.versionUid })),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + dayMs),
  };
  await insertResult(services.db.orm, result);
  return { result, pageJson: answer.pageJson };
}

/** A small result stays in the database: to write a blob for it would take longer than most queries. */
const inlineBytes = 65_536;

async function keepResult(
  services: Services,
  workbook: VisibleWorkbook,
  { content, resultFile }: SandboxResult,
): Promise<Pick<ResultRecord, 'blobKey' | 'content'>> {
  if (content) return { blobKey: null, content };
  if (resultFile === null) throw new Error('the sandbox kept no result');
  const { key } = await services.blobs.put(resultsPrefix(workbook), resultFile, 'parquet');
  return { blobKey: key, content: null };
}

type See = (at: TableAt) => Promise<VisibleTable>;

/** Over the tables that stand in the text; only where these will not do, all that the workbook has are looked at. */
async function runOverNamed(
  services: Services,
  workbook: VisibleWorkbook,
  wanted: QueryWanted,
  see: See,
): Promise<{ answer: SandboxResult; read: VisibleTable[] }> {
  const named = wanted.at === null ? await findNamedTables(services, workbook.id, wanted.sql) : null;
  if (named) {
    try {
      return await runOverGuess(services, workbook, wanted, takeFrom(named, see));
    } catch (error) {
      // A name may have gone unseen; if it is unknown indeed, all others are needed to say which is the nearest.
      if (!(error instanceof DomainError && error.code === 'query-refused')) throw error;
    }
  }
  return runOverGuess(services, workbook, wanted, await openSource(services, workbook, wanted.at, see));
}

/** More than this are not opened on a guess. */
const mostGuessed = 8;

/**
 * A table that a query reads stands in its text by name, so those that do are opened without asking: that spares most
 * queries a way to the sandbox and back. The check there has the last word; where the guess was wrong, it is asked first.
 */
async function runOverGuess(
  services: Services,
  workbook: VisibleWorkbook,
  wanted: QueryWanted,
  source: QuerySource,
): Promise<{ answer: SandboxResult; read: VisibleTable[] }> {
  const guess = guessTables(wanted.sql, source.names);
  if (guess.length <= mostGuessed) {
    try {
      return await runOver(services, workbook, wanted, source, guess);
    } catch (error) {
      if (!(error instanceof TablesMissing)) throw error;
    }
  }
  const known = source.names.map((name) => ({ name }));
  const plan = await (await services.sandbox()).analyze({ accountId: workbook.accountId, sql: wanted.sql, tables: known });
  return runOver(services, workbook, wanted, source, plan.tables);
}

function guessTables(sql: string, names: string[]): string[] {
  const text = foldName(sql);
  return names.filter((name) => text.includes(foldName(name.replaceAll('"', '""'))));
}

async function runOver(
  services: Services,
  workbook: VisibleWorkbook,
  wanted: QueryWanted,
  source: QuerySource,
  names: string[],
): Promise<{ answer: SandboxResult; read: VisibleTable[] }> {
  const sandbox = await services.sandbox();
  const tables = await source.open(names);
  const needed = await narrowWide(services, workbook, wanted.sql, source, tables);
  const relations = await Promise.all(needed.map((visible) => openRelation(services, visible)));
  const blobs = await openFiles(services.blobs, relations);
  try {
    const answer = await sandbox.run({
      accountId: workbook.accountId,
      sql: wanted.sql,
      ...(wanted.params === null ? {} : { params: wanted.params as never }),
      relations,
      known: source.names.map((name) => ({ name })),
      pathOf: blobs.pathOf,
      pageLimit: wanted.jsonRows,
      timeoutMs: wanted.timeoutMs,
      ...(wanted.signal ? { signal: wanted.signal } : {}),
      keepResult: true,
      inlineBytes,
      ...resultLimits,
    });
    const used = new Set(answer.tables.map(foldName));
    return { answer, read: needed.filter(({ at }) => used.has(foldName(at.table.name))) };
  } finally {
    blobs.release();
  }
}

/** Of wide tables only the columns that the query names; to ask it first is worth that, for others it is not. */
async function narrowWide(
  services: Services,
  workbook: VisibleWorkbook,
  sql: string,
  source: QuerySource,
  tables: VisibleTable[],
): Promise<VisibleTable[]> {
  if (!tables.some(({ columns }) => isWide(columns))) return tables;
  const known = source.names.map((name) => ({ name }));
  const plan = await (await services.sandbox()).analyze({ accountId: workbook.accountId, sql, tables: known });
  const used = new Set(plan.tables.map(foldName));
  return narrowTables(
    tables.filter(({ at }) => used.has(foldName(at.table.name))),
    plan,
  );
}

/** Where the tables of a query come from: the workbook as it is, or as it was. All versions are taken in one statement. */
interface QuerySource {
  names: string[];
  open(names: string[]): Promise<VisibleTable[]>;
}

/** Tables that were opened already. */
function takeFrom(tables: TableAt[], see: See): QuerySource {
  const byName = new Map(tables.map((at) => [at.table.name, at]));
  return { names: [...byName.keys()], open: (names) => Promise.all(names.flatMap((name) => byName.get(name) ?? []).map(see)) };
}

async function openSource(services: Services, workbook: VisibleWorkbook, at: string | null, see: See): Promise<QuerySource> {
  if (at !== null) {
    const resolved = await resolveAt(services, workbook.id, at);
    return {
      names: [...resolved.tables.values()].filter(({ state }) => state === 'active').map(({ name }) => name),
      open: async (names) => Promise.all((await openTablesAt(services, resolved, names)).map(see)),
    };
  }
  return {
    names: await listActiveNames(services.db.keyed, workbook.id),
    async open(names) {
      const found = names.length === 0 ? [] : await listCurrentTables(services.db.keyed, workbook.id, names);
      if (found.length < names.length)
        throw new DomainError('query-failed', 'A table went away while the query was being prepared.', 'Send the query again.');
      return Promise.all(found.map(see));
    },
  };
}

function maskedAmong(tables: VisibleTable[], columns: { name: string }[]): string[] {
  const masked = new Set(tables.flatMap((visible) => visible.columns.filter((column) => column.masked).map((column) => column.name)));
  return columns.map((column) => column.name).filter((name) => masked.has(name));
}
