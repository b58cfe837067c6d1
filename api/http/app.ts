import Koa, { type Context } from 'koa';
import { DomainError } from '../../core/errors.ts';
import { describeAddress, describeErrorForLog } from '../../store/log.ts';
import { makeId } from '../../store/services.ts';
import { badEncoding } from './brokenRequests.ts';
import type { AnyReply, Handlers } from './call.ts';
import type { OperationId } from './contract.ts';
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

  const app = new Koa({ proxy: parts.services.config.trustProxy });
  app.silent = true;
  app.use(setSecurityHeaders);
  const { corsOrigins } = parts.services.config;
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins, operations));
  app.use(refuseUndecodable(parts, metrics));
  app.use(makeRoutes(operations, goTo));
  app.use((ctx) => refuse(parts, metrics, ctx, 'no-operation', refuseAddress()));
  return app;
}

function refuseUndecodable(parts: ApiParts, metrics: Metrics): Koa.Middleware {
  return async (ctx, next) => {
    if (isDecodable(ctx)) return next();
    await refuse(parts, metrics, ctx, 'no-operation', badEncoding());
  };
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

async function answer(
  parts: ApiParts,
  metrics: Metrics,
  ctx: Context,
  operation: OperationId | string,
  run: (trace: Trace) => Promise<AnyReply>,
): Promise<void> {
  const { log } = parts.services;
  const trace: Trace = { requestId: makeId('req'), principal: null, headers: {} };
  const started = performance.now();
  let code: string | undefined;
  let reply: AnyReply;
  try {
    reply = await run(trace);
  } catch (error) {
    code = error instanceof DomainError ? error.code : 'internal';
    if (code === 'internal') log.error({ request: trace.requestId, operation, ...describeErrorForLog(error) }, 'request failed');
    else if (code === 'unavailable')
      log.warn({ request: trace.requestId, operation, ...describeErrorForLog((error as DomainError).extras.cause) }, 'a part is away');
    reply = renderProblem(error, trace.requestId, ctx.accepts([...problemTypes]) as string | false);
  }
  respond(ctx, reply, trace);
  const ms = performance.now() - started;
  metrics.observe(operation, reply.status, ms / 1000);
  log.info(
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
