import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '../../../core/errors.ts';
import { everyColumn } from '../../../core/lineage/readPlan.ts';
import { checkText, type SqlError } from '../../../core/sql/analyze.ts';
import type { KnownTable, TreeCheck } from '../../../core/sql/checkTree.ts';
import { mayBeRandom } from '../../../core/sql/functions.ts';
import { foldName } from '../../../core/sql/identifiers.ts';
import type { Relation } from '../relation.ts';
import type { Isolation } from './isolation.ts';
import { KnownPlans, type PlannedQuery } from './knownPlans.ts';
import { type IsolationChoice, openIsolation } from './openIsolation.ts';
import { childProblem, goneProblem, requireOk } from './outcomes.ts';
import { findParamProblems, type GivenParams, matchParams, readParams } from './params.ts';
import { ProcessPool } from './pool.ts';
import type { QueryProcess } from './process.ts';
import type { Replies, ResultColumn } from './protocol.ts';
import { type ForeignFile, readForeignFile } from './readForeignFile.ts';
import { graceMs, runInProcess, type SandboxResult } from './runInProcess.ts';
import { untilAborted } from './untilAborted.ts';
import { keySession } from './warmSessions.ts';

/** Runs SQL of users behind three walls: the syntax tree (core/sql), the instance (child/session.ts), the process (isolation.ts). */
export interface Sandbox {
  /** Which tables a query would read, without opening any. Throws refusals. */
  analyze(query: { userId: string; sql: string; tables: KnownTable[] }): Promise<QueryPlan>;
  run(query: SandboxQuery): Promise<SandboxResult>;
  /** Binds the query against the tables' columns; nothing is read or run. Throws if that takes too long or too much memory. */
  validate(query: {
    userId: string;
    sql: string;
    params?: GivenParams;
    relations: Pick<Relation, 'name' | 'columns'>[];
    timeoutMs: number;
    signal?: AbortSignal;
  }): Promise<Validation>;
  /**
   * Binds a query without parameters, like `validate`, and tells what each column of the result depends on. `tables` are those
   * that it reads. Throws what is wrong with the query.
   */
  plan(query: {
    userId: string;
    sql: string;
    relations: Pick<Relation, 'name' | 'columns'>[];
    timeoutMs: number;
    signal?: AbortSignal;
  }): Promise<PlannedQuery>;
  /**
   * A query without parameters, rewritten so that each row of its result has the ids of the rows that it was made from: a column
   * of `lists` for each table. Null: its rows cannot be traced. It may run only as any other SQL does.
   */
  traceRows(query: { userId: string; sql: string; tables: KnownTable[] }): Promise<{ sql: string; lists: string[] } | null>;
  /** Reads a file that strangers wrote by SQL of the service, in a process of its own. */
  readFile<T>(
    file: { userId: string; path: string; timeoutMs: number; signal?: AbortSignal },
    work: (foreign: ForeignFile) => Promise<T>,
  ): Promise<T>;
  readonly isolation: Isolation['kind'];
  readonly state: { alive: number; busy: number; queued: number };
  close(): Promise<void>;
}

export type QueryPlan = Omit<TreeCheck, 'refusals'> & { normalisedSql: string };

export interface SandboxQuery {
  /** Whose share of the processes it takes. */
  userId: string;
  /** Whose tables are read: the session may stay for other queries over the same ones. Unset: it does not. */
  accountId?: string;
  sql: string;
  params?: GivenParams;
  /** Tables that the SQL may name; only those that it reads are loaded. */
  relations: Relation[];
  /** All tables that the SQL may name, if `relations` is only a guess of those that it reads. `TablesMissing` is thrown if the guess was wrong. */
  known?: KnownTable[];
  /** Local path of a blob. The files must exist until the query has ended. */
  pathOf(key: string): string;
  pageLimit: number;
  timeoutMs: number;
  /** Ends the query by ending its process. */
  signal?: AbortSignal;
  /** Limit for the whole result. */
  maxRows: number;
  maxBytes: number;
  /** False: only the page is wanted; the query stops after it. */
  keepResult: boolean;
  /** A kept result up to this size is returned as `content` instead of a file. Unset: always a file. */
  inlineBytes?: { rows: number; file: number };
}

export interface Validation {
  valid: boolean;
  errors: SqlError[];
  columns: ResultColumn[];
}

export interface SandboxOptions {
  /** Should be on the file system of the blobs, so that files can be linked instead of copied. */
  dir: string;
  searchPath: string[];
  /** Queries at a time; default one per core and one more, since one user may take all but one. */
  processes?: number;
  /** Queries that may wait, of all users and of one. */
  maxQueue?: number;
  maxQueueOfOne?: number;
  maxWaitMs?: number;
  /** Requests after which a process is replaced. */
  maxServed?: number;
  isolation?: IsolationChoice;
  /** For the log: a process could not be started. */
  onTrouble?(error: Error): void;
}

const parseTimeoutMs = 5_000;
/**
 * After a result of this size the process is replaced: its memory may not be freed soon, and the next query needs it.
 */
const largeResultBytes = 32 * 1024 * 1024;
/** With more tables than this, the query is analyzed first to open only those that it reads. */
const maxUnchecked = 16;

/** Throws an error with advice if no isolation works on this machine. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const isolation = await openIsolation(options.dir, options.searchPath, options.isolation ?? 'any');
  const pool = new ProcessPool(
    {
      size: options.processes ?? availableParallelism() + 1,
      maxQueue: options.maxQueue ?? 256,
      maxQueueOfOne: options.maxQueueOfOne ?? 32,
      maxWaitMs: options.maxWaitMs ?? 30_000,
      maxServed: options.maxServed ?? 200,
      start: isolation.start,
      onTrouble: options.onTrouble ?? (() => {}),
    },
    isolation.first,
  );

  const plans = new KnownPlans();

  /** Checks the text and passes it to a process; turns its failures into errors for the caller. */
  async function withProcess<T>(
    userId: string,
    sql: string,
    work: (process: QueryProcess) => Promise<T>,
    how: { signal?: AbortSignal | undefined; prefers?(process: QueryProcess): boolean } = {},
  ): Promise<T> {
    const problem = checkText(sql);
    if (problem !== null)
      throw new DomainError('validation-failed', problem, 'Send one SELECT as text.', { errors: [{ pointer: '/sql', detail: problem }] });
    return pool.use(userId, work, how).catch((error: unknown) => {
      throw goneProblem(error);
    });
  }

  return {
    isolation: isolation.kind,
    get state() {
      return pool.state;
    },
    analyze: ({ userId, sql, tables }) =>
      withProcess(userId, sql, async (process) => {
        const { analysis, normalised } = await check(process, sql, tables);
        return { ...requireOk(analysis), normalisedSql: normalised ?? sql };
      }),
    traceRows: ({ userId, sql, tables }) =>
      withProcess(userId, sql, async (process) => {
        const prefix = `svc_rows_${randomBytes(6).toString('hex')}_`;
        const { reply } = await process.ask({ op: 'traceRows', sql, tables, prefix }, parseTimeoutMs);
        if (!reply.ok) throw childProblem(reply.error);
        requireOk(reply.value.analysis);
        const { traced } = reply.value;
        return traced === null ? null : { sql: traced, lists: tables.map((_, i) => `${prefix}${i + 1}`) };
      }),
    async run(query) {
      const params = readParams(query.params);
      const sessionKey = query.accountId === undefined || mayBeRandom(query.sql) ? null : keySession(query.accountId, query.relations);
      let deadlineMs = 0;
      let isWarm = false;
      const work = async (process: QueryProcess, key: string | null) => {
        deadlineMs ||= Date.now() + query.timeoutMs;
        isWarm = key !== null && process.sessions.has(key);
        const known = describeKnown(query.known, query.relations);
        const relations =
          query.known || query.relations.length <= maxUnchecked
            ? query.relations
            : await onlyUsed(process, query.sql, query.relations, known);
        const resultPath = query.keepResult ? join(process.folders.workDir, `result-${randomBytes(12).toString('hex')}.parquet`) : null;
        const result = await untilAborted(query.signal, process, () =>
          runInProcess(process, {
            ...query,
            check: known,
            relations,
            params,
            deadlineMs,
            resultPath,
            sessionKey: key,
            inlineBytes: query.inlineBytes ?? { rows: 0, file: 0 },
          }),
        );
        if (result.resultFile !== null && (await stat(result.resultFile)).size > largeResultBytes)
          process.served = Number.POSITIVE_INFINITY;
        return result;
      };
      const ask = (key: string | null) => {
        const prefers = (process: QueryProcess) => (key === null ? process.sessions.size === 0 : process.sessions.has(key));
        return withProcess(query.userId, query.sql, (process) => work(process, key), { signal: query.signal, prefers });
      };
      return ask(sessionKey).catch((error: unknown) => {
        // Tables that a session holds in memory leave less of it for the query.
        if (isWarm && error instanceof DomainError && error.code === 'query-too-large') return ask(null);
        throw error;
      });
    },
    readFile: (file, work) =>
      pool.use(file.userId, (process) => untilAborted(file.signal, process, () => readForeignFile(process, file, work)), {
        signal: file.signal,
      }),
    async validate({ userId, sql, params, relations, timeoutMs, signal }) {
      const given = params === undefined ? null : readParams(params);
      const work = async (process: QueryProcess) => {
        const tables = describeColumns(relations);
        const { reply } = await untilAborted(signal, process, () =>
          process.ask({ op: 'validate', sql, params: given ?? {}, tables, timeoutMs }, timeoutMs + graceMs),
        );
        if (!reply.ok) {
          const { kind, message, line, column } = reply.error;
          if (kind !== 'failed') throw childProblem(reply.error);
          return { valid: false, errors: [{ message, line, column }], columns: [] };
        }
        const { analysis, columns } = reply.value;
        if (analysis.outcome !== 'ok') return { valid: false, errors: analysis.errors, columns: [] };
        const unmatched = findParamProblems(analysis.parameters, given);
        const errors = unmatched.map((message) => ({ message, line: null, column: null }));
        return { valid: errors.length === 0, errors, columns: errors.length === 0 ? columns : [] };
      };
      return withProcess(userId, sql, work, { signal });
    },
    async plan({ userId, sql, relations, timeoutMs, signal }) {
      const tables = describeColumns(relations);
      const key = KnownPlans.keyOf(sql, tables);
      const known = plans.find(key);
      if (known) return known;
      const work = async (process: QueryProcess) => {
        const { reply } = await untilAborted(signal, process, () =>
          process.ask({ op: 'plan', sql, tables, timeoutMs }, timeoutMs + graceMs),
        );
        if (!reply.ok) throw childProblem(reply.error);
        const { tables: used, parameters, allColumns } = requireOk(reply.value.analysis);
        matchParams(parameters, {});
        const { columns, lineage } = reply.value;
        const names = columns.map(({ name }) => name);
        return { tables: used, columns, allColumns, lineage: lineage ?? everyColumn(names, describeInputs(relations, used)) };
      };
      const planned = await withProcess(userId, sql, work, { signal });
      plans.keep(key, planned);
      return planned;
    },
    async close() {
      await pool.close();
      await isolation.remove();
    },
  };
}

const describeTables = (relations: Pick<Relation, 'name' | 'columns'>[]): KnownTable[] =>
  relations.map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }));

const describeColumns = (relations: Pick<Relation, 'name' | 'columns'>[]) =>
  relations.map(({ name, columns }) => ({ name, columns: columns.map((column) => ({ name: column.name, type: column.type })) }));

const describeInputs = (relations: Pick<Relation, 'name' | 'columns'>[], used: string[]) =>
  relations.filter(({ name }) => used.includes(name)).map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }));

/** With the columns of the relations, which are needed to tell words such as `user` from columns. */
function describeKnown(known: KnownTable[] | undefined, relations: Relation[]): KnownTable[] {
  const described = describeTables(relations);
  const byName = new Map(described.map((table) => [foldName(table.name), table]));
  return known?.map((table) => byName.get(foldName(table.name)) ?? table) ?? described;
}

/** Parses in the process too, with a time limit, because the text is not trusted. */
async function check(process: QueryProcess, sql: string, tables: KnownTable[]): Promise<Replies['check']> {
  const { reply } = await process.ask({ op: 'check', sql, tables }, parseTimeoutMs);
  if (reply.ok) return reply.value;
  throw childProblem(reply.error);
}

async function onlyUsed(process: QueryProcess, sql: string, relations: Relation[], known: KnownTable[]): Promise<Relation[]> {
  const used = new Set(requireOk((await check(process, sql, known)).analysis).tables.map(foldName));
  return relations.filter(({ name }) => used.has(foldName(name)));
}
