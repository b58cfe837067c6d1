import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { DomainError, notFound } from '../../core/errors.ts';
import { describeAddress, describeErrorForLog } from '../../store/log.ts';
import { makeId } from '../../store/services.ts';
import { badEncoding } from './brokenRequests.ts';
import type { AnyReply, Handlers } from './call.ts';
import type { Operation, OperationId } from './contract.ts';
import { allowOrigins } from './cors.ts';
import type { Metrics } from './metrics.ts';
import { type ApiParts, runOperation, type Trace } from './pipeline.ts';
import { problemTypes, renderProblem } from './problem.ts';
import { respond } from './respond.ts';
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

  const routers = new Map<string, Router>();
  const addRoute = ({ method, path }: Route, handle: (ctx: Context) => Promise<void>) => {
    const key = routeKey(method.toUpperCase(), path);
    const router = routers.get(key) ?? new Router();
    routers.set(key, router);
    router.register(path.replace(/\{(\w+)\}/g, ':$1'), [method], handle);
  };
  const refuseMethod = async (ctx: Context) => {
    const allowed = listMethods(operations, routers, ctx).join(', ');
    const isAsked = allowed !== '' && ctx.method === 'OPTIONS';
    await answer(parts, metrics, ctx, isAsked ? 'options' : allowed === '' ? 'no-operation' : 'method-not-allowed', async () => {
      if (allowed === '') throw notFound('address', 'See /docs for what there is.');
      if (isAsked) return { status: 204, headers: { Allow: allowed } };
      throw new DomainError('method-not-allowed', `${ctx.method} is not possible here.`, `Use ${allowed}.`, {
        headers: { Allow: allowed },
        members: { allow: allowed.split(', ') },
      });
    });
  };
  for (const shadowed of listShadowed(operations)) addRoute(shadowed, refuseMethod);
  for (const operation of [...operations].sort(literalPathsFirst))
    addRoute(operation, (ctx) =>
      answer(parts, metrics, ctx, operation.id, (trace) => runOperation(parts, operation, handlers[operation.id] as never, ctx, trace)),
    );
  const routes = new Map([...routers].map(([key, router]) => [key, router.routes()]));

  const app = new Koa({ proxy: parts.services.config.trustProxy });
  app.silent = true;
  app.use(setSecurityHeaders);
  const { corsOrigins } = parts.services.config;
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins, operations));
  app.use(refuseUndecodable(parts, metrics));
  app.use((ctx, next) => routes.get(routeKey(ctx.method, ctx.path))?.(ctx as never, next) ?? next());
  app.use(refuseMethod);
  return app;
}

type Route = Pick<Operation, 'method' | 'path'>;

/** The methods of the most literal path that matches the address; none if there is no such path. */
function listMethods(operations: Operation[], routers: Map<string, Router>, ctx: Context): string[] {
  const matched = new Set([...routers.values()].flatMap((router) => router.match(ctx.path, ctx.method).path.map(({ path }) => path)));
  const [first] = [...operations].sort(literalPathsFirst).filter(({ path }) => matched.has(path.replace(/\{(\w+)\}/g, ':$1')));
  if (!first) return [];
  const methods = operations.filter(({ path }) => path === first.path).map(({ method }) => method.toUpperCase());
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
}

/** Methods that a path has not, but would be answered for by a templated path: `PATCH …/rows/delete` by `…/rows/{row_id}`. */
function listShadowed(operations: Operation[]): Route[] {
  const paths = [...new Set(operations.map(({ path }) => path))];
  const covers = (templated: string, path: string) => {
    const [parts, others] = [templated.split('/'), path.split('/')];
    return templated !== path && parts.length === others.length && parts.every((part, i) => part === others[i] || part.startsWith('{'));
  };
  return paths.flatMap((path) => {
    const own = new Set(operations.flatMap((operation) => (operation.path === path ? [operation.method] : [])));
    const foreign = operations.filter((operation) => covers(operation.path, path) && !own.has(operation.method));
    return [...new Set(foreign.map(({ method }) => method))].map((method) => ({ method, path }));
  });
}

/** Groups routes by method and number of path segments, as a router tries its patterns one by one. */
function routeKey(method: string, path: string): string {
  return `${method === 'HEAD' ? 'GET' : method} ${path.replace(/\/$/, '').split('/').length}`;
}

/** Literal segments are tried first: `/me` before `/{id}`. */
function literalPathsFirst(a: Operation, b: Operation): number {
  const templated = ({ path }: Operation) =>
    path
      .split('/')
      .map((part) => (part.startsWith('{') ? '1' : '0'))
      .join('');
  return templated(a).localeCompare(templated(b));
}

function refuseUndecodable(parts: ApiParts, metrics: Metrics): Koa.Middleware {
  return async (ctx, next) => {
    if (isDecodable(ctx)) return next();
    await answer(parts, metrics, ctx, 'no-operation', async () => {
      throw badEncoding();
    });
  };
}

function isDecodable(ctx: Context): boolean {
  try {
    return !decodeURIComponent(ctx.path).includes('\u0000');
  } catch {
    return false;
  }
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
