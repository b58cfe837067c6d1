import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../../core/errors.ts';
import type { Analysis } from '../../../core/sql/analyze.ts';
import type { KnownTable, Volatility } from '../../../core/sql/checkTree.ts';
import { foldName } from '../../../core/sql/identifiers.ts';
import { countLookup } from '../../cacheCounts.ts';
import type { Relation } from '../relation.ts';
import { endSessions } from './endSessions.ts';
import { emptyFolder, FoldersGone, hasFolders, makeSessionFolder, partFor, removeSessionFolder, shareFile, takeFile } from './folders.ts';
import { childProblem, requireOk } from './outcomes.ts';
import { matchParams } from './params.ts';
import type { QueryProcess } from './process.ts';
import {
  aloneFolder,
  type ExecuteStep,
  type LoadedRelation,
  type Params,
  type Replies,
  type ResultColumn,
  type RunRequest,
} from './protocol.ts';
import { asArray, takeRows } from './takeRows.ts';

export interface PreparedQuery extends Pick<ExecuteStep, 'pageLimit' | 'maxRows' | 'maxBytes' | 'inlineBytes'> {
  sql: string;
  params: Params;
  /** The tables that the SQL may name. Null: the SQL is not checked, for tests of the other walls. */
  check: KnownTable[] | null;
  relations: Relation[];
  /** Under which the session stays for other queries (keySession). Null: it does not. */
  sessionKey: string | null;
  pathOf(key: string): string;
  deadlineMs: number;
  /** Where to put the result. Null: none is wanted. */
  resultPath: string | null;
}

/** A query interrupts itself at its deadline; one that cannot is killed this much later. */
export const graceMs = 300;
/** A page that is longer is read from the result's file, if that is kept. */
const maxPageBytes = { kept: 1024 * 1024, alone: 32 * 1024 * 1024 };
const resultName = 'result.parquet';

export interface SandboxResult {
  columns: ResultColumn[];
  /** Names of the tables that were read. */
  tables: string[];
  /** Of the whole result; without `keepResult`, of the page. */
  rowCount: number;
  /** Whether there are rows after the page. */
  more: boolean;
  /** A JSON array of objects, a line each. Empty with `keepResult` if it would be long. */
  pageJson: Buffer;
  /** A Parquet file, owned by the caller; read it with `selectResult`. Null without `keepResult`, or if `content` is set. */
  resultFile: string | null;
  content: ResultContent | null;
  elapsedMs: number;
  volatility: Volatility;
}

/** A small result: as the bytes of a Parquet file, or as objects of JSON, each on a line, separated by `pageSeparator`. */
export interface ResultContent {
  form: 'file' | 'rows';
  bytes: Buffer;
}

/** The query reads tables that were not given. Nothing was done. */
export class TablesMissing extends Error {
  constructor(readonly tables: string[]) {
    super('tables are missing');
  }
}

/** Runs a query in a session that has its tables already, or in a new one. */
export async function runInProcess(process: QueryProcess, query: PreparedQuery): Promise<SandboxResult> {
  const { sessionKey } = query;
  const warm = sessionKey === null ? null : process.sessions.find(sessionKey, Date.now());
  try {
    if (sessionKey === null) return await runAlone(process, query);
    countLookup('query_sessions', warm === null ? 'miss' : 'hit');
    return await (warm === null ? runFirst(process, query, sessionKey) : runWarm(process, query, warm));
  } catch (error) {
    if (!process.gone && !(await hasFolders(process.folders)) && !process.gone)
      throw new FoldersGone('the folders of a query process are gone', { cause: error });
    // The files of a session that stayed may be gone, too; with them goes the process, and the query is tried in another.
    if (warm !== null && !process.gone && !(error instanceof DomainError) && !isHarmless(error))
      throw new FoldersGone('a session that stayed cannot be used any more', { cause: error });
    // After a refusal or an error of the query the process is reused; after other errors its state is unknown.
    if (!isHarmless(error)) process.kill();
    else await emptyFolder(process.folders.outDir);
    throw error;
  }
}

/** A session for this query alone. Removes all of its files from the process afterwards, also after errors. */
async function runAlone(process: QueryProcess, query: PreparedQuery): Promise<SandboxResult> {
  const execute = makeStep(query);
  const { relations, files } = describeRelations(process, query, aloneFolder);
  const place = { session: null, folder: aloneFolder };
  const governed = relations.some((relation) => relation.governed);
  try {
    await makeSessionFolder(process.folders, aloneFolder);
    await shareFiles(process, files);
    let outcome = await ask(process, query, { ...place, check: query.check, load: relations, execute: governed ? null : execute });
    const { analysis } = outcome;
    requireTables(query, analysis);
    // Tables with hidden columns are loaded without these. Their files are removed before user SQL runs.
    await removeFiles(files.filter((file) => file.governed));
    if (governed) outcome = await ask(process, query, { ...place, check: null, load: null, execute });
    return await takeResult(process, query, { ...outcome, analysis });
  } finally {
    // The folders of a process that is gone are removed anyway.
    if (!process.gone) {
      await removeSessionFolder(process.folders, aloneFolder);
      await removeFiles(files.filter((file) => file.governed));
    }
  }
}

/** A session that stays, with its files, if the query comes to an end or fails by its own fault. */
async function runFirst(process: QueryProcess, query: PreparedQuery, key: string): Promise<SandboxResult> {
  const id = randomBytes(9).toString('hex');
  const { relations, files } = describeRelations(process, query, id);
  let stays = false;
  try {
    await makeSessionFolder(process.folders, id);
    await shareFiles(process, files);
    const outcome = await ask(process, query, {
      session: id,
      folder: id,
      check: query.check,
      load: relations,
      execute: makeStep(query),
    });
    stays = outcome.executed !== null;
    requireTables(query, outcome.analysis);
    if (outcome.asksToHold) holdSoon(process, id);
    return await takeResult(process, query, outcome);
  } finally {
    if (stays) {
      process.sessions.add(key, id, Date.now());
      // Mostly this is done while nobody waits for the process.
      if (process.sessions.isCrowded) tidySoon(process, () => endSessions(process, process.sessions.takeOld(Date.now())));
    } else if (!process.gone) await endSessions(process, [id]);
  }
}

async function runWarm(process: QueryProcess, query: PreparedQuery, id: string): Promise<SandboxResult> {
  // Such a query costs little, and leaves little behind.
  process.served -= 1 - warmShare;
  try {
    const place = { session: id, folder: id, check: query.check, load: null };
    const outcome = await ask(process, query, { ...place, execute: makeStep(query) });
    requireTables(query, outcome.analysis);
    if (outcome.asksToHold) holdSoon(process, id);
    return await takeResult(process, query, outcome);
  } catch (error) {
    if (!isHarmless(error)) {
      process.sessions.remove(query.sessionKey ?? '');
      if (!process.gone) await removeSessionFolder(process.folders, id);
    }
    throw error;
  }
}

/** Holding many rows takes about two seconds; other processes answer meanwhile. */
const holdTimeoutMs = 30_000;

function holdSoon(process: QueryProcess, session: string): void {
  tidySoon(process, () => process.ask({ op: 'hold', session }, holdTimeoutMs));
}

/** Does something after the answer, before the process takes the next query. */
function tidySoon(process: QueryProcess, work: () => Promise<unknown>): void {
  process.tidying = (process.tidying ?? Promise.resolve()).then(async () => {
    if (!process.gone) await work().catch(() => process.kill());
  });
}

/** What a query in a session that stayed counts, where another counts one. */
const warmShare = 0.01;

function makeStep({ pageLimit, maxRows, maxBytes, resultPath, inlineBytes }: PreparedQuery): ExecuteStep {
  const isKept = resultPath !== null;
  const pageBytes = isKept ? maxPageBytes.kept : maxPageBytes.alone;
  return { pageLimit, maxRows, maxBytes, maxPageBytes: pageBytes, resultFile: isKept ? resultName : null, inlineBytes };
}

function requireTables({ relations }: PreparedQuery, analysis: Analysis | null): void {
  if (analysis?.outcome !== 'ok') return;
  const given = new Set(relations.map(({ name }) => foldName(name)));
  if (!analysis.tables.every((name) => given.has(foldName(name)))) throw new TablesMissing(analysis.tables);
}

async function takeResult(process: QueryProcess, query: PreparedQuery, outcome: Outcome): Promise<SandboxResult> {
  const { analysis, executed: told, body } = outcome;
  if (!told) throw new Error('a query process did not execute what it was asked to');
  const { body: what, ...executed } = told;
  const { resultPath, inlineBytes, pageLimit } = query;
  const plan = analysis?.outcome === 'ok' ? analysis : null;
  const common = {
    ...executed,
    tables: plan?.tables ?? query.relations.map(({ name }) => name),
    volatility: plan?.volatility ?? ('random' as const),
  };
  if (what.kind === 'rows') {
    const rows = body.subarray(1, -1);
    requireSize(rows.length, inlineBytes.rows);
    const pageJson = executed.rowCount <= pageLimit ? body : asArray(takeRows(rows, 0, pageLimit));
    return { ...common, pageJson, resultFile: null, content: { form: 'rows', bytes: rows } };
  }
  const contentBytes = what.kind === 'file' ? what.bytes : 0;
  requireSize(contentBytes, Math.min(body.length, inlineBytes.file));
  const end = body.length - contentBytes;
  const content: ResultContent | null = what.kind === 'file' ? { form: 'file', bytes: body.subarray(end) } : null;
  if (resultPath !== null && !content) await takeFile(join(process.folders.outDir, resultName), resultPath);
  return { ...common, pageJson: body.subarray(0, end), resultFile: content ? null : resultPath, content };
}

/** The process is not trusted. */
function requireSize(bytes: number, most: number): void {
  if (!(bytes >= 0 && bytes <= most)) throw new Error('a query process counted wrongly');
}

const isHarmless = (error: unknown) => error instanceof TablesMissing || (error instanceof DomainError && harmless.has(error.code));

const harmless = new Set(['query-failed', 'query-refused', 'validation-failed']);

type Steps = Pick<RunRequest, 'check' | 'load' | 'execute' | 'session' | 'folder'>;
type Outcome = Replies['run'] & { body: Buffer };

async function ask(process: QueryProcess, { sql, params, deadlineMs }: PreparedQuery, steps: Steps): Promise<Outcome> {
  const timeoutMs = Math.max(1, deadlineMs - Date.now());
  const { reply, body } = await process.ask({ op: 'run', sql, params, ...steps, timeoutMs }, timeoutMs + graceMs);
  if (!reply.ok) throw childProblem(reply.error);
  const { analysis } = reply.value;
  if (analysis) matchParams(requireOk(analysis).parameters, params);
  return { ...reply.value, body };
}

interface SharedFile {
  governed: boolean;
  from: string;
  to: string;
}

/** The tables as the process sees them, and the files that it needs. */
function describeRelations(
  process: QueryProcess,
  query: PreparedQuery,
  folder: string,
): { relations: LoadedRelation[]; files: SharedFile[] } {
  const files = new Map<string, SharedFile & { seen: string }>();
  // Random, because tables of the session and of the workbook share a name space.
  const mark = randomBytes(6).toString('hex');
  const relations = query.relations.map((relation, i): LoadedRelation => {
    const part = partFor(relation.governed, folder);
    const pathOf = (key: string) => {
      const name = `${files.size}.parquet`;
      const file = files.get(`${part} ${key}`) ?? {
        governed: relation.governed,
        from: query.pathOf(key),
        to: join(process.folders.inDir, part, name),
        seen: join(process.seen.inDir, part, name),
      };
      files.set(`${part} ${key}`, file);
      return file.seen;
    };
    const tailName = `__svc_tail_${mark}_${i}`;
    const { name, governed, tail } = relation;
    return {
      name,
      columns: relation.columns.map((column) => column.name),
      governed,
      select: relation.select(pathOf, tailName),
      tail: tail && { ...tail, name: tailName },
    };
  });
  return { relations, files: [...files.values()] };
}

async function shareFiles(process: QueryProcess, files: SharedFile[]): Promise<void> {
  await Promise.all(files.map(({ from, to }) => shareFile(from, to, process.folders.owner)));
}

async function removeFiles(files: SharedFile[]): Promise<void> {
  await Promise.all(files.map(({ to }) => rm(to, { force: true })));
}
