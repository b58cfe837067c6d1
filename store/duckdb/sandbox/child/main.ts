import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { traceRows } from '../../../../core/lineage/traceRows.ts';
import { analyze } from '../../../../core/sql/analyze.ts';
import type { TreeCheck } from '../../../../core/sql/checkTree.ts';
import { foldName } from '../../../../core/sql/identifiers.ts';
import { findGap, findParamProblems } from '../params.ts';
import {
  aloneFolder,
  type CheckRequest,
  type PlanRequest,
  type ReadFileRequest,
  type Replies,
  type Reply,
  type Request,
  type RunRequest,
  type Scalar,
  type TraceRowsRequest,
  type ValidateRequest,
} from '../protocol.ts';
import { openChannel } from './channel.ts';
import { describeQueryError } from './errors.ts';
import { bindQuery, type Deadline, execute } from './execute.ts';
import { loadEmpty, loadEmptyTables, loadRelations } from './load.ts';
import type { Session } from './session.ts';
import { Sessions } from './sessions.ts';
import { traceQuery } from './traceQuery.ts';

/**
 * A query process: parses, checks and runs SQL of users, one request at a time, in a database that was prepared in advance or
 * stayed from an earlier query over the same tables. It trusts the service; the service does not trust it.
 */

const [inDir = '/in', outDir = '/out'] = process.argv.slice(2);
const niceness = 2;

// Before anything starts a thread, since threads have a priority of their own and take over that of who starts them.
try {
  setPriority(niceness);
} catch {
  // Not permitted on some machines.
}

const channel = openChannel();
const sessions = new Sessions();

interface Answer {
  value: Replies[keyof Replies];
  body?: Buffer;
  /** Whether something was loaded into the session; a mere check leaves it as it is. */
  used: boolean;
}

async function answer(request: Request): Promise<Answer> {
  const kept = request.op === 'run' ? sessions.find(request.session) : undefined;
  const current = kept?.session ?? (await sessions.next);
  switch (request.op) {
    case 'check':
      return { value: await check(current, request), used: false };
    case 'validate':
      return withDeadline(current, request.timeoutMs, () => validate(current, request));
    case 'plan':
      return withDeadline(current, request.timeoutMs, () => plan(current, request));
    case 'traceRows':
      return { value: await trace(current, request), used: false };
    case 'run':
      return withDeadline(current, request.timeoutMs, (deadline) =>
        run(current, kept?.relations.map(({ name }) => name) ?? null, request, deadline),
      );
    case 'end':
      for (const id of request.sessions) sessions.end(id);
      return { value: null, used: false };
    case 'hold':
      await sessions.hold(request.session);
      return { value: null, used: false };
    case 'readFile':
      return withDeadline(current, request.timeoutMs, () => readFile(current, request));
  }
}

async function check(current: Session, { sql, tables }: CheckRequest): Promise<Replies['check']> {
  const tree = await serialize(current, sql);
  const analysis = analyze(sql, tree, tables);
  if (analysis.outcome !== 'ok') return { analysis, normalised: null };
  return { analysis, normalised: await readText(current.own, 'SELECT json_deserialize_sql(CAST($1 AS JSON))', tree) };
}

async function validate(current: Session, { sql, params, tables }: ValidateRequest): Promise<Answer> {
  const analysis = analyze(sql, await serialize(current, sql), describeKnown(tables));
  if (analysis.outcome !== 'ok' || findGap(analysis.parameters) !== null) return { value: { analysis, columns: [] }, used: false };
  await loadEmpty(current, onlyUsed(tables, analysis));
  return { value: { analysis, columns: await bindQuery(current, sql, params) }, used: true };
}

async function plan(current: Session, { sql, tables }: PlanRequest): Promise<Answer> {
  const analysis = analyze(sql, await serialize(current, sql), describeKnown(tables));
  if (analysis.outcome !== 'ok' || analysis.parameters.length > 0) return { value: { analysis, columns: [], lineage: null }, used: false };
  const read = onlyUsed(tables, analysis);
  await loadEmptyTables(current, read, analysis);
  const columns = await bindQuery(current, sql, {});
  return { value: { analysis, columns, lineage: await traceQuery(current, sql, columns, read) }, used: true };
}

async function trace(current: Session, { sql, tables, prefix }: TraceRowsRequest): Promise<Replies['traceRows']> {
  const tree = await serialize(current, sql);
  const analysis = analyze(sql, tree, tables);
  const names = tables.map(({ name }) => name);
  const traced = analysis.outcome === 'ok' && analysis.parameters.length === 0 ? traceRows(tree, names, prefix) : null;
  return { analysis, traced: traced && (await readText(current.own, 'SELECT json_deserialize_sql(CAST($1 AS JSON))', traced)) };
}

const describeKnown = (tables: ValidateRequest['tables']) =>
  tables.map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }));

/** `has`: the tables of a session that stayed. */
async function run(current: Session, has: string[] | null, request: RunRequest, deadline: Deadline): Promise<Answer> {
  const { sql, params, check: tables, load, execute: step, session, folder } = request;
  const analysis = tables && analyze(sql, await serialize(current, sql), tables);
  const passed = analysis === null || (analysis.outcome === 'ok' && findParamProblems(analysis.parameters, params).length === 0);
  const stop = { value: { analysis, executed: null, asksToHold: false }, used: false };
  if (!passed) return stop;
  const plan = analysis?.outcome === 'ok' ? analysis : null;
  const there = has ?? load?.map(({ name }) => name);
  if (there && plan && !hasAll(there, plan.tables)) return stop;
  if (load && !has) {
    const openDir = join(inDir, 'open', folder);
    const folders = [openDir, outDir];
    // For one query only what it needs; a session that stays has whole tables.
    if (session === null) await loadRelations(current, onlyUsed(load, plan), plan, folders);
    else {
      await loadRelations(current, load, null, folders);
      await sessions.keep(session, load, openDir);
    }
  }
  if (!step) return stop;
  const { executed, body } = await execute(current, { sql, params }, step, outDir, deadline);
  return { value: { analysis, executed, asksToHold: sessions.spend(session, executed.elapsedMs) }, body, used: true };
}

function hasAll(there: string[], wanted: string[]): boolean {
  const names = new Set(there.map(foldName));
  return wanted.every((name) => names.has(foldName(name)));
}

/** The SQL is the service's own, so nothing is checked; what the file may do to the engine stays within this process. */
async function readFile({ own, lock }: Session, { sql }: ReadFileRequest): Promise<Answer> {
  await lock([join(inDir, 'open', aloneFolder), outDir]);
  return { value: { rows: (await own.runAndReadAll(sql)).getRowsJson() as Scalar[][] }, used: true };
}

function onlyUsed<T extends { name: string }>(tables: T[], plan: Pick<TreeCheck, 'tables'> | null): T[] {
  if (!plan) return tables;
  const used = new Set(plan.tables.map(foldName));
  return tables.filter(({ name }) => used.has(foldName(name)));
}

async function serialize({ serialize: statement }: Session, sql: string): Promise<string> {
  statement.bindVarchar(1, sql);
  return String((await statement.run()).getChunk(0).getColumnValues(0)[0]);
}

async function readText(own: DuckDBConnection, sql: string, param: string): Promise<string> {
  return String((await own.runAndReadAll(sql, [param])).getRows()[0]?.[0]);
}

/** Interrupts repeatedly until the work has stopped, because an interrupt between two steps has no effect. */
async function withDeadline<T>({ user, own }: Session, timeoutMs: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const deadline = { passed: false };
  let repeat: NodeJS.Timeout | undefined;
  const interrupt = () => {
    deadline.passed = true;
    user.interrupt();
    own.interrupt();
  };
  const timer = setTimeout(() => {
    interrupt();
    repeat = setInterval(interrupt, 20);
  }, timeoutMs);
  try {
    return await work(deadline);
  } finally {
    clearTimeout(timer);
    clearInterval(repeat);
  }
}

async function handle(request: Request): Promise<void> {
  const id = request.op === 'run' ? request.session : null;
  const stayed = sessions.find(id) !== undefined;
  let used = true;
  try {
    const { value, body, ...rest } = await answer(request);
    used = rest.used;
    reply({ ok: true, value }, body);
  } catch (error) {
    const described = describeQueryError(error, 'sql' in request ? request.sql : '');
    // What is left in the session after an error that is not the query's own is not known.
    if (id !== null && described.kind !== 'failed') sessions.end(id);
    reply({ ok: false, error: described });
  }
  if (used && !stayed) void sessions.replace();
}

function reply(header: Reply, body?: Buffer): void {
  channel.send(header, body);
}

await sessions.next;
channel.serve((request) => handle(request as Request));
