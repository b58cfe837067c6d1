import Koa, { type Context } from 'koa';
import { DomainError } from '../../core/errors.ts';
import { explainAway } from '../../store/explainAway.ts';
import { describeAddress, describeErrorForLog } from '../../store/log.ts';
import { makeId } from '../../store/services.ts';
import { isConsoleAddress } from '../pages/console.ts';
import { badEncoding, badHost } from './brokenRequests.ts';
import type { AnyReply, Handlers } from './call.ts';
import { drainBody } from './chunks.ts';
import type { Operation, OperationId } from './contract.ts';
import { allowOrigins } from './cors.ts';
import type { Metrics } from './metrics.ts';
import { type ApiParts, runOperation, type Trace } from './pipeline.ts';
import { problemTypes, renderProblem } from './problem.ts';
import { respond } from './respond.ts';
import { type Destination, makeRoutes, refuseAddress, refuseMethod } from './routes.ts';
import { setSecurityHeaders } from './securityHeaders.ts';

/** The HTTP application: one route per operation. Fails if an operation has no handler, or a handler no operation. */
export function makeApp(parts: ApiParts, handlers: Handlers, metrics: Metrics): Koa {
  const { operations } = parts.contract;
  const known = new Set<string>(operations.map((operation) => operation.id));
  const wrong = [
    ...operations.filter((operation) => !(operation.id in handlers)).map((operation) => `operation ${operation.id} has no handler`),
    ...Object.keys(handlers)
      .filter((id) => !known.has(id))
      .map((id) => `handler ${id} has no operation`),
  ];
  if (wrong.length > 0) throw new Error(`The contract and the handlers do not fit: ${wrong.join('; ')}`);

  const goTo = (ctx: Context, destination: Destination) => {
    if ('operation' in destination) {
      const { operation } = destination;
      return answer(parts, metrics, ctx, operation.id, (trace) =>
        runOperation(parts, operation, handlers[operation.id] as never, ctx, trace),
      );
    }
    const { allow } = destination;
    if (ctx.method === 'OPTIONS')
      return answer(parts, metrics, ctx, 'options', async () => ({ status: 204, headers: { Allow: allow.join(', ') } }));
    return refuse(parts, metrics, ctx, 'method-not-allowed', refuseMethod(ctx.method, allow));
  };

  const { corsOrigins, trustedProxies } = parts.services.config;
  // Each proxy adds the address that it saw at the end. What stands before these is what the client claims.
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.silent = true;
  app.use(setSecurityHeaders);
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins, operations));
  app.use(refuseAmbiguous(parts, metrics));
  app.use(makeRoutes(operations, goTo));
  app.use(showConsole(operations, goTo));
  app.use((ctx) => refuse(parts, metrics, ctx, 'no-operation', refuseAddress()));
  return app;
}

/** A browser that opens an address inside the console gets the page at `/`, which shows what belongs there. */
function showConsole(operations: Operation[], goTo: (ctx: Context, destination: Destination) => Promise<void>): Koa.Middleware {
  const operation = operations.find(({ id }) => id === 'getHome');
  return async (ctx, next) => {
    const isOpened = ctx.method === 'GET' && isConsoleAddress(ctx.path) && ctx.accepts([...problemTypes]) === 'text/html';
    if (!operation || !isOpened) return next();
    // What stands behind the question mark is for the page.
    ctx.querystring = '';
    ctx.params = {};
    await goTo(ctx, { operation });
  };
}

function refuseAmbiguous(parts: ApiParts, metrics: Metrics): Koa.Middleware {
  return async (ctx, next) => {
    const problem = isDecodable(ctx) ? findHostFault(ctx) : badEncoding();
    if (problem === null) return next();
    await refuse(parts, metrics, ctx, 'no-operation', problem);
  };
}

/** Which host is meant must not be read differently by a proxy before us. Node.js keeps the first and says nothing of others. */
function findHostFault({ req }: Context): DomainError | null {
  const hosts = req.rawHeaders.filter((_, i) => i % 2 === 1 && req.rawHeaders[i - 1]?.toLowerCase() === 'host');
  if (hosts.length > 1 || hosts.some((host) => /[\s,]/.test(host))) return badHost('more than one Host header');
  return hosts.length === 0 && req.httpVersion === '1.1' ? badHost('no Host header') : null;
}

function isDecodable(ctx: Context): boolean {
  try {
    return !decodeURIComponent(ctx.path).includes('\u0000');
  } catch {
    return false;
  }
}

function refuse(parts: ApiParts, metrics: Metrics, ctx: Context, operation: string, error: DomainError): Promise<void> {
  return answer(parts, metrics, ctx, operation, () => Promise.reject(error));
}

/** The rest of an unread body cannot be told from the next request, so the connection is closed after the answer. */
async function closeUnread({ req }: Context, trace: Trace): Promise<void> {
  if (!req.complete) await drainBody(req);
  if (!req.complete) trace.headers.Connection = 'close';
}

const probes = new Set<string>(['getHealth', 'getReadiness'] satisfies OperationId[]);

async function answer(
  parts: ApiParts,
  metrics: Metrics,
  ctx: Context,
  operation: OperationId | string,
  run: (trace: Trace) => Promise<AnyReply>,
): Promise<void> {
  const { log } = parts.services;
  const { answers, work } = parts.budgets;
  const trace: Trace = { requestId: makeId('req'), principal: null, headers: {}, room: answers.open(ctx.ip), work: work.open(ctx.ip) };
  const started = performance.now();
  let code: string | undefined;
  let reply: AnyReply;
  const span = parts.services.tracing?.startRequest({ operation, method: ctx.method, headers: ctx.headers });
  try {
    reply = await (span ? span.run(() => run(trace)) : run(trace));
  } catch (thrown) {
    const error = explainAway(thrown);
    code = error instanceof DomainError ? error.code : 'internal';
    if (code === 'internal') log.error({ request: trace.requestId, operation, ...describeErrorForLog(error) }, 'request failed');
    else if (code === 'unavailable')
      log.warn({ request: trace.requestId, operation, ...describeErrorForLog((error as DomainError).extras.cause) }, 'a part is away');
    reply = renderProblem(error, trace.requestId, ctx.accepts([...problemTypes]) as string | false);
  }
  await closeUnread(ctx, trace);
  ctx.res.once('close', () => trace.room.release());
  if (ctx.res.destroyed) trace.room.release();
  try {
    await respond(parts.services, ctx, reply, trace);
  } finally {
    trace.work.release();
    span?.end({ requestId: trace.requestId, status: reply.status, problem: code });
  }
  const ms = performance.now() - started;
  metrics.observe(operation, reply.status, ms / 1000);
  // A balancer asks several times a second.
  log[probes.has(operation) && code === undefined ? 'debug' : 'info'](
    {
      request: trace.requestId,
      operation,
      status: reply.status,
      code,
      ...(code === undefined ? {} : describeAddress(ctx.method, ctx.path)),
      ms: Math.round(ms),
      credential: trace.principal?.credentialId,
    },
    'answered',
  );
}
