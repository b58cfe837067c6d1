import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { analyze } from '../../../../core/sql/analyze.ts';
import { type CheckRequest, encodeFrame, FrameReader, type Replies, type Reply, type Request } from '../protocol.ts';
import { describeError } from './errors.ts';
import { type Deadline, execute, validate } from './execute.ts';
import { loadEmpty, loadRelations } from './load.ts';
import { openSession, type Session } from './session.ts';

/**
 * A query process: parses, checks and runs the SQL of others, one request at a time, each in a database of its own that was
 * made while nobody waited. It trusts the service; the service does not trust it.
 */

const [inDir = '/in', outDir = '/out'] = process.argv.slice(2);
const folders = { openDir: join(inDir, 'open'), outDir };
const niceness = 5;

/** The one socket, handed over as file descriptor 3. */
const socket = new Socket({ fd: 3, readable: true, writable: true });
// The service is gone. A running query would hold up a gentler ending.
for (const event of ['close', 'end', 'error']) socket.on(event, () => process.kill(process.pid, 'SIGKILL'));

let session = openSession(folders);

async function answer(request: Request): Promise<{ value: Replies[keyof Replies]; page?: Buffer }> {
  const current = await session;
  switch (request.op) {
    case 'check':
      return { value: await check(current, request) };
    case 'load':
      await withDeadline(current, request.timeoutMs, () => loadRelations(current, request.relations));
      return { value: {} };
    case 'validate':
      await loadEmpty(current, request.tables);
      return { value: await withDeadline(current, request.timeoutMs, () => validate(current, request)) };
    case 'execute':
      return withDeadline(current, request.timeoutMs, (deadline) => execute(current, request, outDir, deadline));
  }
}

async function check({ own }: Session, { sql, tables, normalise }: CheckRequest): Promise<Replies['check']> {
  const tree = String(
    (await own.runAndReadAll('SELECT CAST(json_serialize_sql(CAST($1 AS VARCHAR)) AS VARCHAR)', [sql])).getRows()[0]?.[0],
  );
  const analysis = analyze(sql, tree, tables);
  const normalised =
    normalise && analysis.outcome === 'ok'
      ? String((await own.runAndReadAll('SELECT json_deserialize_sql(CAST($1 AS JSON))', [tree])).getRows()[0]?.[0])
      : null;
  return { analysis, normalised };
}

/** An interrupt between two steps would be lost, so it is repeated until the work has stopped. */
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
  const sql = 'sql' in request ? request.sql : '';
  // A session serves one query; checking and loading leave it for what follows.
  let used = request.op === 'execute' || request.op === 'validate';
  try {
    const { value, page } = await answer(request);
    reply({ ok: true, value }, page);
  } catch (error) {
    reply({ ok: false, error: describeError(error, sql) });
    used = true;
  }
  if (!used) return;
  const old = await session;
  session = openSession(folders);
  old.close();
}

function reply(header: Reply, page?: Buffer): void {
  socket.write(encodeFrame(header, page));
}

try {
  setPriority(niceness);
} catch {
  // Not allowed everywhere.
}
await session;
const frames = new FrameReader(Number.POSITIVE_INFINITY);
let last: Promise<void> = Promise.resolve();
socket.on('data', (chunk: Buffer) => {
  for (const { header } of frames.push(chunk)) last = last.then(() => handle(header as Request));
});
socket.write(encodeFrame({ ready: true }));
