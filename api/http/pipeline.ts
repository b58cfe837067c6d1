import type { Context } from 'koa';
import { authenticate, unauthenticated } from '../../activities/identity/authenticate.ts';
import type { Principal } from '../../core/access/principal.ts';
import { missingScopes } from '../../core/access/scopes.ts';
import { DomainError } from '../../core/errors.ts';
import { type Actor, commit, type Marks, type Tx } from '../../store/pg/commit.ts';
import { explainDatabaseError } from '../../store/pg/database.ts';
import type { Services } from '../../store/services.ts';
import { readBody } from './body.ts';
import type { AnyReply, Call, Handler } from './call.ts';
import type { Contract, Operation, OperationId } from './contract.ts';
import { claimRepeatable, describeRepeatable, keepAnswer, type Repeatable, replayAnswer } from './idempotency.ts';
import type { TakeRequest } from './rateLimit.ts';
import type { RequestCounter } from './requestCounts.ts';
import { validateRequest } from './validate.ts';

export interface Plant {
  services: Services;
  contract: Contract;
  takeRequest: TakeRequest;
  counter: RequestCounter;
  /** Operations that are still to be built. */
  pending: ReadonlySet<OperationId>;
}

/** What the renderer needs to know of a request beside its answer. */
export interface Trace {
  requestId: string;
  principal: Principal | null;
  headers: Record<string, string>;
}

/** A request as a straight line: who, how often, may they, what, is it well-formed, was it answered before, do it. */
export async function runOperation<Id extends OperationId>(
  plant: Plant,
  operation: Operation,
  handler: Handler<Id>,
  ctx: Context,
  trace: Trace,
): Promise<AnyReply> {
  const principal = operation.accepts.length > 0 ? await identify(plant.services, operation, ctx) : null;
  if (principal) {
    trace.principal = principal;
    plant.counter.count(principal);
    Object.assign(trace.headers, await plant.takeRequest(principal));
    requireScopes(principal, operation);
  }
  // What is still to be built says so to whoever may ask, before it reads a body that nobody could take.
  if (plant.pending.has(operation.id)) return (await handler(undefined as never)) as AnyReply;
  const body = await readBody(ctx.req, operation);
  const query = validateRequest(plant.contract, operation, {
    params: ctx.params as Record<string, string>,
    query: ctx.query as Record<string, string>,
    queryNames: ctx.querystring === '' ? [] : [...new URLSearchParams(ctx.querystring).keys()],
    headers: ctx.headers as Record<string, string>,
    body: body?.value,
    bodySize: body?.bytes.length ?? 0,
  });
  const key = operation.idempotent ? ctx.get('Idempotency-Key') : '';
  const repeatable = key === '' ? null : describeRepeatable(key, principal, { method: ctx.method, url: ctx.url, body: body?.bytes });
  try {
    const before = repeatable?.scope && (await replayAnswer(plant.services.db.orm, repeatable));
    if (before) return before;
    return (await handler(makeCall<Id>(plant, ctx, trace, { query, body: body?.value, repeatable }))) as AnyReply;
  } catch (error) {
    if (error instanceof AnsweredBefore) return error.answer;
    throw explainDatabaseError(error);
  }
}

async function identify(services: Services, operation: Operation, ctx: Context): Promise<Principal> {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(ctx.get('Authorization')) ?? [];
  if (!bearer) throw unauthenticated('The request carries no bearer token.');
  const principal = await authenticate(services, bearer);
  if (!operation.accepts.includes(principal.kind)) {
    throw unauthenticated(
      `This operation does not take ${kindNames[principal.kind]}; it takes ${operation.accepts.map((kind) => kindNames[kind]).join(' or ')}.`,
    );
  }
  return principal;
}

const kindNames: Record<Principal['kind'], string> = {
  session: 'a session',
  account_key: 'an account key',
  access_token: 'a personal access token',
};

function requireScopes(principal: Principal, operation: Operation): void {
  const missing = missingScopes(principal.scopes, operation.scopes);
  if (missing.length === 0) return;
  throw new DomainError(
    'missing-scope',
    `The credential lacks the scope ${missing.join(', ')}.`,
    'Use a credential that has it, or mint one with these scopes.',
    { members: { missing_scope: missing.join(' ') } },
  );
}

/** The same request was answered while this one was on its way. */
class AnsweredBefore extends Error {
  constructor(readonly answer: AnyReply) {
    super('answered before');
  }
}

function makeCall<Id extends OperationId>(
  plant: Plant,
  ctx: Context,
  trace: Trace,
  input: { query: Record<string, unknown>; body: unknown; repeatable: Repeatable | null },
): Call<Id> {
  const { repeatable } = input;
  const call = {
    get principal(): Principal {
      if (!trace.principal) throw new Error('a public operation asked for its principal');
      return trace.principal;
    },
    params: ctx.params,
    query: input.query,
    body: input.body,
    requestId: trace.requestId,
    address: ctx.ip,
    accepts: (...types: string[]) => ctx.accepts(...types) || null,
    idempotencyScope(scope: string) {
      if (repeatable) repeatable.scope = scope;
    },
    actor(name?: string | null): Actor {
      const { principal } = trace;
      return {
        name: name || principal?.userName || principal?.email || 'anonymous',
        userId: principal?.userId ?? null,
        credential: principal?.credentialId ?? 'none',
        requestId: trace.requestId,
      };
    },
    async write<T>(
      actor: Actor,
      change: (tx: Tx) => Promise<T>,
      present: (result: T, marks: Map<string, Marks>) => AnyReply,
    ): Promise<AnyReply> {
      const guarded = async (tx: Tx) => {
        const before = repeatable && (await claimRepeatable(tx, repeatable));
        if (before) throw new AnsweredBefore(before);
        return change(tx);
      };
      return commit(plant.services, actor, guarded, async (result, marks, tx) => {
        const reply = present(result, marks);
        if (!repeatable) return reply;
        const answer = freezeReply(reply);
        await keepAnswer(tx, repeatable, answer);
        return {
          status: answer.status,
          headers: reply.headers,
          ...(answer.body ? { raw: { type: 'application/json', data: answer.body } } : {}),
        };
      });
    },
  };
  return call as unknown as Call<Id>;
}

/** The answer as bytes: what is kept for a repeated request is exactly what the first one gets. */
function freezeReply(reply: AnyReply): { status: number; headers: Record<string, string>; body: Buffer | null } {
  if (reply.raw) throw new Error('answers that are kept for repetition must be JSON');
  return {
    status: reply.status,
    headers: { ...reply.headers, ...(reply.body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: reply.body === undefined ? null : Buffer.from(JSON.stringify(reply.body)),
  };
}
