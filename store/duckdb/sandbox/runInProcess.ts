import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../../core/errors.ts';
import type { KnownTable } from '../../../core/sql/checkTree.ts';
import { foldName } from '../../../core/sql/identifiers.ts';
import type { Relation } from '../relation.ts';
import { emptyFolder, FoldersGone, hasFolders, type InPart, shareFile, takeFile } from './folders.ts';
import { childProblem, requireOk } from './outcomes.ts';
import { matchParams } from './params.ts';
import type { QueryProcess } from './process.ts';
import type { ExecuteStep, LoadedRelation, Params, Replies, ResultColumn, RunRequest } from './protocol.ts';

export interface PreparedQuery extends Pick<ExecuteStep, 'pageLimit' | 'maxRows' | 'maxBytes'> {
  sql: string;
  params: Params;
  /** The tables that the SQL may name. Null: the SQL is not checked, for tests of the other walls. */
  check: KnownTable[] | null;
  relations: Relation[];
  pathOf(key: string): string;
  deadlineMs: number;
  /** Where to put the result. Null: none is wanted. */
  resultPath: string | null;
  /** A result up to this size is returned as bytes. */
  inlineBytes: number;
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
  /** The text of a JSON array of objects, a line each. Empty with `keepResult` if it would be long. */
  pageJson: string;
  /** A Parquet file, owned by the caller; read it with `selectResult`. Null without `keepResult`, or if `content` is set. */
  resultFile: string | null;
  content: Buffer | null;
  elapsedMs: number;
}

/** The query reads tables that were not given. Nothing was done. */
export class TablesMissing extends Error {
  constructor(readonly tables: string[]) {
    super('tables are missing');
  }
}

/** Removes all files of the query from the process afterwards, also after errors. */
export async function runInProcess(process: QueryProcess, query: PreparedQuery): Promise<SandboxResult> {
  const { pageLimit, maxRows, maxBytes, resultPath, inlineBytes } = query;
  const resultFile = resultPath === null ? null : resultName;
  const pageBytes = resultFile === null ? maxPageBytes.alone : maxPageBytes.kept;
  const execute: ExecuteStep = { pageLimit, maxRows, maxBytes, maxPageBytes: pageBytes, resultFile, inlineBytes };
  const { relations, files } = describeRelations(process, query);
  const governed = relations.some((relation) => relation.governed);
  try {
    await Promise.all(files.map(({ from, to }) => shareFile(from, to, process.folders.owner)));
    let outcome = await ask(process, query, { check: query.check, load: relations, execute: governed ? null : execute });
    const tables = outcome.analysis?.outcome === 'ok' ? outcome.analysis.tables : relations.map(({ name }) => name);
    const given = new Set(relations.map(({ name }) => foldName(name)));
    if (!tables.every((name) => given.has(foldName(name)))) throw new TablesMissing(tables);
    // Tables with hidden columns are loaded without these. Their files are removed before user SQL runs.
    await removeFiles(files, 'governed');
    if (governed) outcome = await ask(process, query, { check: null, load: null, execute });
    if (!outcome.executed) throw new Error('a query process did not execute what it was asked to');
    const { contentBytes, ...executed } = outcome.executed;
    const { page, content } = splitBody(outcome.body, contentBytes, inlineBytes);
    if (resultPath !== null && !content) await takeFile(join(process.folders.outDir, resultName), resultPath);
    return { ...executed, tables, pageJson: page.toString('utf8'), resultFile: content ? null : resultPath, content };
  } catch (error) {
    if (!process.gone && !(await hasFolders(process.folders)) && !process.gone)
      throw new FoldersGone('the folders of a query process are gone', { cause: error });
    // After a refusal or an error of the query the process is reused; after other errors its state is unknown.
    if (!(error instanceof TablesMissing || (error instanceof DomainError && harmless.has(error.code)))) process.kill();
    else await emptyFolder(process.folders.outDir);
    throw error;
  } finally {
    // The folders of a process that is gone are removed anyway.
    if (!process.gone) for (const part of ['open', 'governed'] as const) await removeFiles(files, part);
  }
}

/** Checks the sizes, because the process is not trusted. */
function splitBody(body: Buffer, contentBytes: number | null, inlineBytes: number): { page: Buffer; content: Buffer | null } {
  if (contentBytes === null) return { page: body, content: null };
  if (!(contentBytes >= 0 && contentBytes <= Math.min(body.length, inlineBytes))) throw new Error('a query process counted wrongly');
  const end = body.length - contentBytes;
  return { page: body.subarray(0, end), content: body.subarray(end) };
}

const harmless = new Set(['query-failed', 'query-refused', 'validation-failed']);

type Steps = Pick<RunRequest, 'check' | 'load' | 'execute'>;

async function ask(
  process: QueryProcess,
  { sql, params, deadlineMs }: PreparedQuery,
  steps: Steps,
): Promise<Replies['run'] & { body: Buffer }> {
  const timeoutMs = Math.max(1, deadlineMs - Date.now());
  const { reply, body } = await process.ask({ op: 'run', sql, params, ...steps, timeoutMs }, timeoutMs + graceMs);
  if (!reply.ok) throw childProblem(reply.error);
  const { analysis } = reply.value;
  if (analysis) matchParams(requireOk(analysis).parameters, params);
  return { ...reply.value, body };
}

interface SharedFile {
  part: InPart;
  from: string;
  to: string;
  removed: boolean;
}

/** The tables as the process sees them, and the files that it needs. */
function describeRelations(process: QueryProcess, query: PreparedQuery): { relations: LoadedRelation[]; files: SharedFile[] } {
  const files = new Map<string, SharedFile & { seen: string }>();
  // Random, because tables of the session and of the workbook share a name space.
  const mark = randomBytes(6).toString('hex');
  const relations = query.relations.map((relation, i): LoadedRelation => {
    const part: InPart = relation.governed ? 'governed' : 'open';
    const pathOf = (key: string) => {
      const name = `${files.size}.parquet`;
      const file = files.get(`${part} ${key}`) ?? {
        part,
        removed: false,
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

async function removeFiles(files: SharedFile[], part: InPart): Promise<void> {
  const there = files.filter((file) => file.part === part && !file.removed);
  for (const file of there) file.removed = true;
  await Promise.all(there.map(({ to }) => rm(to, { force: true })));
}
