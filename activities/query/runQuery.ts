import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { foldName } from '../../core/sql/identifiers.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { ReadTable } from '../../schema/index.ts';
import { resultsPrefix } from '../../store/blobs/keys.ts';
import { openFiles } from '../../store/duckdb/relation.ts';
import { type SandboxResult, TablesMissing } from '../../store/duckdb/sandbox/runInProcess.ts';
import { asArray, takeRows } from '../../store/duckdb/sandbox/takeRows.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import { packContent } from '../../store/pg/packedContent.ts';
import { insertResult, type ResultRecord } from '../../store/pg/results.ts';
import { listActiveNames, listCurrentTables } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId, type Services } from '../../store/services.ts';
import { openSandboxRelation } from '../../store/tables/openSandboxRelation.ts';
import { openTablesAt, resolveAt } from '../snapshots/resolveAt.ts';
import { makeRoomForResult } from '../storage/makeRoomForResult.ts';
import { rememberVisible } from '../tables/openVisibleTable.ts';
import { openFresh } from '../transforms/refreshViews.ts';
import { digestEffects } from './digestEffects.ts';
import { keyAnswer } from './keyAnswer.ts';
import type { Ahead } from './lookAhead.ts';
import { openNamedTables } from './namedTables.ts';
import { narrowTables } from './narrowTables.ts';

export interface QueryWanted {
  sql: string;
  params: unknown[] | Record<string, unknown> | null;
  /** How many of the first rows to return as JSON. */
  jsonRows: number;
  timeoutMs: number;
  /** Aborts the query when nobody wants its result any more. */
  signal?: AbortSignal;
  /** A version label or snapshot id; null for the current state. */
  at: string | null;
}

export interface QueryAnswer {
  result: ResultRecord;
  /** The first rows as a JSON array; null if that would be long: then they are read from the result. */
  pageJson: Buffer | null;
  /** Whether the result of an earlier query was the answer. */
  isKept: boolean;
}

const dayMs = 24 * 3_600_000;
const resultLimits = { maxRows: 5_000_000, maxBytes: 256 * 1024 * 1024 };

type UserQuery = QueryWanted & { ahead: Ahead; userId: string; workbookId: string; accountId: string };

/** What a query came to: a result, or that of an earlier one. */
type Ran = { answer: SandboxResult; read: VisibleTable[]; answerKey: string } | { kept: ResultRecord };

/**
 * Runs an untrusted SELECT over the tables it names, and stores the result for a day. Where the same was asked before and nothing
 * that decides the answer has changed, that result is the answer.
 */
export async function runQuery(
  services: Services,
  principal: Principal,
  workbook: VisibleWorkbook,
  wanted: QueryWanted,
  ahead: Ahead,
): Promise<QueryAnswer> {
  const asked = { ...wanted, ahead, userId: principal.userId, workbookId: workbook.id, accountId: workbook.accountId };
  const ran = await runOverNamed(services, workbook, asked, rememberVisible(services, principal));
  if ('kept' in ran) return { result: ran.kept, pageJson: await readPage(services, ran.kept, wanted.jsonRows), isKept: true };
  const { answer, read, answerKey } = ran;
  const told = {
    columns: answer.columns,
    maskedColumns: maskedAmong(read, answer.columns),
    tables: read.map(describeRead),
  };
  const { blobBytes, ...kept } = await keepResult(services, workbook, answer);
  const stored = await packContent(kept);
  const bytes = blobBytes + (stored.content?.length ?? 0) + Buffer.byteLength(JSON.stringify(told));
  await makeRoomForResult(services, workbook.accountId, bytes);
  const id = makeId('res');
  const createdAt = new Date();
  const result: ResultRecord = {
    id,
    accountId: workbook.accountId,
    workbookId: workbook.id,
    userId: principal.userId,
    ...kept,
    ...told,
    ...(answer.volatility === 'none' ? { answerKey, askedKey: ahead.askedKey } : { answerKey: null, askedKey: null }),
    bytes,
    rowCount: answer.rowCount,
    elapsedMs: Math.round(answer.elapsedMs),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + dayMs),
  };
  await insertResult(services.db, { ...result, ...stored });
  return { result, pageJson: answer.pageJson.length === 0 ? null : answer.pageJson, isKept: false };
}

/** The first rows of a small result; nothing of others, which are read from their files. */
async function readPage(services: Services, result: ResultRecord, jsonRows: number): Promise<Buffer | null> {
  if (result.contentForm !== 'rows') return null;
  const rows = await services.resultRows.read(result.id);
  return rows && asArray(result.rowCount <= jsonRows ? rows : takeRows(rows, 0, jsonRows));
}

function describeRead({ at, effects }: VisibleTable): ReadTable {
  const hidden = digestEffects(effects);
  return { id: at.table.id, name: at.table.name, edit_version: at.editVersion, uid: at.versionUid, ...(hidden ? { hidden } : {}) };
}

/** Small results are stored in the database: writing a blob would take longer than most queries. */
const inlineBytes = { rows: 1_048_576, file: 65_536 };

async function keepResult(
  services: Services,
  workbook: VisibleWorkbook,
  { content, resultFile }: SandboxResult,
): Promise<Pick<ResultRecord, 'blobKey' | 'content' | 'contentForm'> & { blobBytes: number }> {
  if (content) return { blobKey: null, content: content.bytes, contentForm: content.form, blobBytes: 0 };
  if (resultFile === null) throw new Error('the sandbox kept no result');
  const { key, size } = await services.blobs.put(resultsPrefix(workbook), resultFile, 'parquet');
  return { blobKey: key, content: null, contentForm: 'file', blobBytes: size };
}

type See = (at: TableAt) => Promise<VisibleTable>;

/** Tries the tables named in the SQL; falls back to all tables. */
async function runOverNamed(services: Services, workbook: VisibleWorkbook, wanted: UserQuery, see: See): Promise<Ran> {
  const named = wanted.ahead.tables && (await openNamedTables(services, workbook.id, wanted, wanted.ahead.tables));
  if (named) {
    try {
      return await runOverGuess(services, wanted, takeFrom(named, see));
    } catch (error) {
      // A name may have been missed; or it is unknown, and then all tables are needed to suggest the nearest name.
      if (!(error instanceof DomainError && error.code === 'query-refused')) throw error;
    }
  }
  return runOverGuess(services, wanted, await openSource(services, workbook, wanted, see));
}

/** More tables than this are not opened on a guess. */
const mostGuessed = 8;

/**
 * Opens the tables whose names occur in the SQL without asking the sandbox which ones it reads, which saves most queries a
 * round trip. The sandbox still checks; if the guess was wrong, it is asked first.
 */
async function runOverGuess(services: Services, wanted: UserQuery, source: QuerySource): Promise<Ran> {
  const guess = guessTables(wanted.sql, source.names);
  if (guess.length <= mostGuessed) {
    try {
      return await runOver(services, wanted, source, guess);
    } catch (error) {
      if (!(error instanceof TablesMissing)) throw error;
    }
  }
  const known = source.names.map((name) => ({ name }));
  const plan = await (await services.sandbox()).analyze({ userId: wanted.userId, sql: wanted.sql, tables: known });
  return runOver(services, wanted, source, plan.tables);
}

function guessTables(sql: string, names: string[]): string[] {
  const text = foldName(sql);
  return names.filter((name) => text.includes(foldName(name.replaceAll('"', '""'))));
}

async function runOver(services: Services, wanted: UserQuery, source: QuerySource, names: string[]): Promise<Ran> {
  const sandbox = await services.sandbox();
  const tables = await source.open(names);
  const answerKey = keyAnswer(wanted, tables);
  const kept = (await wanted.ahead.last).find((result) => result.answerKey === answerKey);
  if (kept) return { kept };
  const needed = await narrowWide(services, wanted, source, tables);
  const relations = await Promise.all(needed.map((visible) => openSandboxRelation(services, visible)));
  const blobs = await openFiles(services.blobs, relations);
  try {
    const answer = await sandbox.run({
      userId: wanted.userId,
      accountId: wanted.accountId,
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
      maxBytes: Math.min(resultLimits.maxBytes, services.config.resultsLimit),
    });
    const used = new Set(answer.tables.map(foldName));
    return { answer, read: needed.filter(({ at }) => used.has(foldName(at.table.name))), answerKey };
  } finally {
    blobs.release();
  }
}

/** Reduces wide tables to the columns that the query names. This needs a round trip, so it is done only for wide tables. */
async function narrowWide(
  services: Services,
  { userId, sql }: UserQuery,
  source: QuerySource,
  tables: VisibleTable[],
): Promise<VisibleTable[]> {
  if (!tables.some(({ columns }) => isWide(columns))) return tables;
  const known = source.names.map((name) => ({ name }));
  const plan = await (await services.sandbox()).analyze({ userId, sql, tables: known });
  const used = new Set(plan.tables.map(foldName));
  return narrowTables(
    tables.filter(({ at }) => used.has(foldName(at.table.name))),
    plan,
  );
}

/** Where a query's tables come from: the current state of the workbook, or a past one. All versions are read in one statement. */
interface QuerySource {
  names: string[];
  open(names: string[]): Promise<VisibleTable[]>;
}

/** Tables that are already open. */
function takeFrom(tables: TableAt[], see: See): QuerySource {
  const byName = new Map(tables.map((at) => [at.table.name, at]));
  return { names: [...byName.keys()], open: (names) => Promise.all(names.flatMap((name) => byName.get(name) ?? []).map(see)) };
}

async function openSource(services: Services, workbook: VisibleWorkbook, { at, userId }: UserQuery, see: See): Promise<QuerySource> {
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
      const found =
        names.length === 0 ? [] : await openFresh(services, userId, () => listCurrentTables(services.db.keyed, workbook.id, names));
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
