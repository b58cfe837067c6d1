import { rm } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import { requireScopes, requireWorkbook } from '../../activities/access.ts';
import { awaitOrAnnounce } from '../../activities/jobs/awaitJob.ts';
import { startJob, startJobs } from '../../activities/jobs/startJob.ts';
import { requireRoom } from '../../activities/storage/withRoom.ts';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { requireName } from '../../core/names.ts';
import { explainMemoryError } from '../../store/duckdb/engine.ts';
import { explainAway } from '../../store/explainAway.ts';
import { inAccounts } from '../../store/pg/accountScope.ts';
import { type Actor, type Change, commit, commitWithDraft, type JournalNumbers, type Tx } from '../../store/pg/commit.ts';
import { findPolicyVersion } from '../../store/pg/idempotency.ts';
import { KeyTaken } from '../../store/pg/keepDraft.ts';
import type { Services } from '../../store/services.ts';
import { withWorkMemory } from '../../store/workMemory.ts';
import { type ReadBody, readBody } from './body.ts';
import type { ByteBudget, Room } from './byteBudget.ts';
import type { AnyReply, Begun, Call, Handler, JobWait, Reply } from './call.ts';
import { drainBody } from './chunks.ts';
import { markKnown } from './connectionLimit.ts';
import { type Contract, formType, type Operation, type OperationId } from './contract.ts';
import { type SentFile, saveBody } from './form.ts';
import {
  type AwaitedJob,
  BegunBefore,
  describeRepeatable,
  draftAnswer,
  isJob,
  keepJob,
  keepReply,
  onceOnly,
  type Repeatable,
  refuseBusyKey,
  replayAnswer,
  settleAnswer,
} from './idempotency.ts';
import { identify } from './identify.ts';
import { chooseType } from './negotiate.ts';
import { applyIfMatch } from './preconditions.ts';
import type { TakeRequest } from './rateLimit.ts';
import { readQuery } from './readQuery.ts';
import { type NamedThings, requireReplayable } from './replayRights.ts';
import type { RequestCounter } from './requestCounts.ts';
import { spoolAnswer } from './spoolAnswer.ts';
import type { Turns } from './turns.ts';
import { validateRequest } from './validate.ts';
import { findSeen, type Validator } from './validators.ts';

export interface ApiParts {
  services: Services;
  /** Aborted when the process was told to stop. */
  stopping: AbortSignal;
  contract: Contract;
  takeRequest: TakeRequest;
  turns: Turns;
  counter: RequestCounter;
  /** Memory for answers that are being made or sent, and for what is being worked on: bodies and rows. */
  budgets: { answers: ByteBudget; work: ByteBudget };
}

/** What the steps need of a request. */
export interface Incoming {
  method: string;
  /** Path and query string. */
  url: string;
  querystring: string;
  params?: unknown;
  headers: IncomingHttpHeaders;
  /** The caller's network address. */
  ip: string;
  req: IncomingMessage;
  res: ServerResponse;
  get(header: string): string;
  vary(header: string): void;
}

/** What the renderer needs to know about a request besides its answer. */
export interface Trace {
  requestId: string;
  principal: Principal | null;
  headers: Record<string, string>;
  /** What the answer holds of the budget for answers. */
  room: Room;
  /** What the request holds of the budget for work, until its answer is made. */
  work: Room;
}

/** The steps of a request: authenticate, wait for a turn, rate limit, authorise, read, validate, replay, handle. */
export async function runOperation<Id extends OperationId>(
  parts: ApiParts,
  operation: Operation,
  handler: Handler<Id>,
  ctx: Context,
  trace: Trace,
): Promise<AnyReply> {
  const serveIn = (accountIds: readonly string[]) => inAccounts(accountIds, () => serve(parts, operation, handler, ctx, trace));
  if (operation.accepts.length === 0) return serveIn([]);
  const principal = await identify(parts.services, operation, ctx);
  trace.principal = principal;
  markKnown(ctx.req.socket);
  parts.counter.count(principal);
  await parts.turns.enter(principal.userId);
  try {
    Object.assign(trace.headers, await takeRequest(parts, principal));
    requireScopes(principal, operation.scopes);
    trace.room = parts.budgets.answers.open(principal.userId);
    trace.work = parts.budgets.work.open(principal.userId);
    // Whoever does not read the answers that are there gets no more.
    await trace.room.take(0);
    return await serveIn(principal.accountIds);
  } finally {
    parts.turns.leave(principal.userId);
  }
}

async function takeRequest(parts: ApiParts, principal: Principal): Promise<Record<string, string>> {
  try {
    return await parts.takeRequest(principal);
  } catch (error) {
    await parts.turns.slowDown(principal.userId);
    throw error;
  }
}

/** From here on statements see only rows of the principal's accounts; without a principal, none. */
async function serve<Id extends OperationId>(
  parts: ApiParts,
  operation: Operation,
  handler: Handler<Id>,
  ctx: Context,
  trace: Trace,
): Promise<AnyReply> {
  const body = await readWanted(parts, operation, ctx, trace);
  const sent = body?.file ? [body.file] : [];
  try {
    return await withWorkMemory(
      (bytes) => trace.work.take(bytes),
      () => answerRequest(parts, operation, handler, ctx, trace, { body, sent }),
    );
  } finally {
    // Files that the handler wanted have been taken by now.
    for (const file of sent) await rm(file.path, { force: true });
  }
}

/** Reads the body. A form may bring a large file, so callers who may not write to the workbook are refused before. */
async function readWanted(parts: ApiParts, operation: Operation, ctx: Context, { principal, work }: Trace): Promise<ReadBody | undefined> {
  const { workbook_id: workbookId } = ctx.params as { workbook_id?: string };
  if (principal && workbookId !== undefined && operation.bodyTypes.includes(formType)) {
    try {
      const { accountId } = await requireWorkbook(parts.services, principal, workbookId, 'editor');
      // A repeated request is answered as the first one was, also when there is no room any more.
      if (ctx.get('Idempotency-Key') === '') await requireRoom(parts.services, accountId, Number(ctx.get('Content-Length')) || 1);
    } catch (error) {
      await drainBody(ctx.req);
      throw error;
    }
  }
  return readBody(
    ctx.req,
    operation,
    readQuery(ctx.querystring),
    () => parts.services.blobs.draft(),
    (bytes) => work.take(bytes),
  );
}

/** Answers a request of a principal who is known: it came by itself, or as a part of another, such as a tool call. */
export async function answerRequest<Id extends OperationId>(
  parts: ApiParts,
  operation: Operation,
  handler: Handler<Id>,
  ctx: Incoming,
  trace: Trace,
  { body, sent }: Pick<Input, 'body' | 'sent'>,
): Promise<AnyReply> {
  if (operation.answerTypes.length > 1) ctx.vary('Accept');
  const { 'if-match': ifMatch } = ctx.headers;
  const { params, query } = validateRequest(parts.contract, operation, {
    params: ctx.params as Record<string, string>,
    query: applyIfMatch(operation, ifMatch, { query: readQuery(ctx.querystring), body: body?.value }) as Record<string, string>,
    querystring: ctx.querystring,
    headers: ctx.headers as Record<string, string>,
    body: body?.value,
    besideRows: body?.besideRows ?? '',
    bodySize: body?.size ?? 0,
  });
  const type = chooseType(operation, ctx.req, query, body?.value);
  const key = operation.idempotent ? ctx.get('Idempotency-Key') : '';
  const repeatable =
    key === ''
      ? null
      : describeRepeatable(key, trace.principal, {
          method: ctx.method,
          url: ctx.url,
          ifMatch,
          print: body?.print,
          workbookId: (params.workbook_id as string | undefined) ?? null,
        });
  const replay = () =>
    replayReadable(parts, trace.principal, repeatable, { params, body: body?.value }).catch((failure: unknown) => {
      throw explainAway(failure);
    });
  const call = async (answered: AnyReply | null) =>
    (await handler(makeCall<Id>(parts, ctx, trace, { params, query, type, body, sent, repeatable, answered }))) as AnyReply;
  // A file that was sent is not kept, but made again under the same headers.
  const repeat = async (before: AnyReply) =>
    isFile(operation) ? withHeaders(await call(before), { 'Idempotency-Replayed': 'true' }) : before;
  try {
    const before = await replay();
    return before ? await repeat(before) : await call(null);
  } catch (error) {
    if (error instanceof KeyTaken) {
      const since = await replay();
      if (since) return repeat(since);
      throw refuseBusyKey();
    }
    if (error instanceof DomainError && error.code !== 'unavailable') {
      // It may be caused by the same request, sent twice at once: the other one changed the version or deleted the table.
      const since = await replay();
      if (since && !isFile(operation)) return since;
    }
    throw explainMemoryError(explainAway(error));
  }
}

function isFile({ idempotent, answerTypes }: Operation): boolean {
  return idempotent && answerTypes.length > 0 && !answerTypes.includes('application/json');
}

function withHeaders(reply: AnyReply, headers: Record<string, string>): AnyReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** The stored answer to the same request. Null: there is none, or a job will give it. */
async function replayReadable(
  parts: ApiParts,
  principal: Principal | null,
  repeatable: Repeatable | null,
  named: NamedThings,
): Promise<AnyReply | null> {
  const before = repeatable?.scope && (await replayAnswer(parts.services.db, repeatable));
  if (!before || isJob(before)) return null;
  // Without a body there is nothing to read: the answer to a deletion is repeated though the thing is gone.
  if (before.raw && principal) await requireReplayable(parts.services, principal, before.policyVersion, named);
  return before;
}

type Numbers = Map<string, JournalNumbers>;

interface Input {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  /** The media type to answer with. */
  type: string;
  body: ReadBody | undefined;
  /** Files that came with the request. */
  sent: SentFile[];
  repeatable: Repeatable | null;
  /** What the same request was answered before. */
  answered: AnyReply | null;
}

function watchCaller(response: ServerResponse): AbortSignal {
  const watch = new AbortController();
  if (response.destroyed) watch.abort();
  response.once('close', () => {
    if (!response.writableEnded) watch.abort();
  });
  return watch.signal;
}

function makeCall<Id extends OperationId>(parts: ApiParts, ctx: Incoming, trace: Trace, input: Input): Call<Id> {
  const { repeatable } = input;
  const actor = (name?: string | null): Actor => {
    const { principal } = trace;
    const given = name?.trim();
    return {
      name:
        (given && requireName(given, name === input.query.actor ? '/query/actor' : '/actor')) ||
        principal?.userName ||
        principal?.email ||
        'anonymous',
      userId: principal?.userId ?? null,
      credential: principal?.credentialId ?? 'none',
      requestId: trace.requestId,
    };
  };
  const writeAs =
    (who: Actor) =>
    async <T>(
      change: Change<T>,
      answer: (result: T, numbers: Numbers) => AnyReply,
      makeDraft?: () => AnyReply | undefined,
    ): Promise<AnyReply> => {
      const draft = repeatable && typeof change !== 'function' ? makeDraft?.() : undefined;
      if (repeatable && draft && typeof change !== 'function') {
        const { result, numbers } = await commitWithDraft(parts.services, who, change, draftAnswer(repeatable, draft));
        return answer(result, numbers);
      }
      if (repeatable)
        return commit(parts.services, who, onceOnly(repeatable, change), (result, numbers, tx) =>
          keepReply(tx, repeatable, answer(result, numbers)),
        );
      const { result, numbers } = await commit(parts.services, who, change);
      return answer(result, numbers);
    };
  const call = {
    get principal(): Principal {
      if (!trace.principal) throw new Error('a public operation asked for its principal');
      return trace.principal;
    },
    params: input.params,
    query: input.query,
    body: input.body?.exact ? { ...(input.body.value as object), ...input.body.exact } : input.body?.value,
    get sentBytes(): Uint8Array {
      const { print = '' } = input.body ?? {};
      return typeof print === 'string' ? Buffer.from(print) : print;
    },
    requestId: trace.requestId,
    address: ctx.ip,
    get abandoned(): AbortSignal {
      return watchCaller(ctx.res);
    },
    async unlessSeen(validator: Validator, make: () => Promise<AnyReply>): Promise<AnyReply> {
      return findSeen(ctx.req, validator) ? { status: 304, validator } : { ...(await make()), validator };
    },
    takeRoom: (bytes: number) => trace.room.take(bytes),
    async spool(stream: Readable, most: { bytes: number; refuse(): Error }) {
      // Nobody waits for the rest any more.
      const stop = () => stream.destroy(new DomainError('malformed-request', 'The connection ended before the answer.', 'Ask again.'));
      if (ctx.res.destroyed) stop();
      ctx.res.once('close', stop);
      const { data, size, cost } = await spoolAnswer(parts.services.blobs, stream, most);
      ctx.res.off('close', stop);
      trace.room.settle(cost);
      return { data, size };
    },
    header: (name: string) => ctx.get(name) || null,
    answered: input.answered?.headers ?? null,
    type: input.type,
    idempotencyScope(scope: string) {
      if (repeatable) repeatable.scope = scope;
    },
    actor,
    get write() {
      return writeAs(actor());
    },
    writeAs,
    get file(): SentFile {
      if (input.body?.file) return input.body.file;
      throw new DomainError('validation-failed', '/file: is required.', 'Send the file in the field `file` of the form.', {
        errors: [{ pointer: '/file', detail: 'is required' }],
      });
    },
    async saveBody(filename: string) {
      const file = await saveBody(ctx.req, filename, () => parts.services.blobs.draft());
      input.sent.push(file);
      return file;
    },
    async handOver(actor: Actor, begin: (tx: Tx) => Promise<Begun<Id>>, wait: JobWait<Id>): Promise<AnyReply> {
      let begun: Begun<Id> | AwaitedJob;
      try {
        const register = () =>
          commit(parts.services, actor, onceOnly(repeatable, begin), async (result, _numbers, tx) => {
            if ('reply' in result) return { reply: (await keepReply(tx, repeatable, result.reply as AnyReply)) as Reply<Id> };
            if (repeatable) await keepJob(tx, repeatable, { jobId: result.job.id, joined: result.joined ?? false });
            return result;
          });
        begun = await parts.services.intake.run(call.principal.userId, register);
      } catch (error) {
        if (!(error instanceof BegunBefore)) throw error;
        begun = error.job;
      }
      if ('reply' in begun) return begun.reply as AnyReply;
      if ('job' in begun && begun.job.admittedAt !== null && !begun.joined) await startJob(parts.services, begun.job);
      else if ('job' in begun) await startJobs(parts.services, begun.job.userId);
      const jobId = 'job' in begun ? begun.job.id : begun.jobId;
      const job = await awaitOrAnnounce(parts.services, jobId, wait.async ? { patienceMs: 0 } : { isReady: wait.isReady });
      // Before what the answer shows is read: it is repeated only while that holds.
      const policyVersion = repeatable && (await findPolicyVersion(parts.services.db.orm, repeatable.workbookId));
      const reply: AnyReply =
        job && !wait.async && (job.status === 'succeeded' || wait.isReady?.(job))
          ? ((await wait.answer(job, begun.joined ?? false)) as AnyReply)
          : { status: 202, headers: { Location: `/api/v1/jobs/${jobId}` }, body: { job_id: jobId } };
      if (!repeatable) return reply;
      return (await settleAnswer(parts.services.db, repeatable, { ...reply, policyVersion })) ?? reply;
    },
  };
  return call as unknown as Call<Id>;
}
