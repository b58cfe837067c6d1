import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { DomainError, notFound } from '../../core/errors.ts';
import type { Operation } from './contract.ts';

/** What an address and a method lead to. */
export type Destination = { operation: Operation } | { allow: string[] };

/** Calls `handle` with the operation, or with the methods of an address that has no such method; passes on what no path matches. */
export function makeRoutes(operations: Operation[], handle: (ctx: Context, destination: Destination) => Promise<void>): Middleware {
  const routers = new Map<number, Router>();
  for (const path of [...new Set(operations.map(({ path }) => path))].sort(literalPathsFirst)) {
    const own = operations.filter((operation) => operation.path === path);
    const segments = countSegments(path);
    const router = routers.get(segments) ?? new Router();
    routers.set(segments, router);
    const byMethod = new Map(own.map((operation) => [operation.method.toUpperCase(), operation]));
    const read = byMethod.get('GET');
    if (read) byMethod.set('HEAD', read);
    const allow = [...byMethod.keys(), 'OPTIONS'];
    router.all(path.replace(/\{(\w+)\}/g, ':$1'), (ctx) => {
      const operation = byMethod.get(ctx.method);
      return handle(ctx, operation ? { operation } : { allow });
    });
  }
  const routes = new Map([...routers].map(([segments, router]) => [segments, router.routes()]));
  return (ctx, next) => routes.get(countSegments(ctx.path))?.(ctx as never, next) ?? next();
}

/** A router tries its patterns one by one, so there is one for each number of segments. */
function countSegments(path: string): number {
  return path.replace(/\/$/, '').split('/').length;
}

/** Literal segments are tried first: `/me` before `/{id}`. */
function literalPathsFirst(a: string, b: string): number {
  const templated = (path: string) =>
    path
      .split('/')
      .map((part) => (part.startsWith('{') ? '1' : '0'))
      .join('');
  return templated(a).localeCompare(templated(b));
}

export function refuseMethod(method: string, allow: string[]): DomainError {
  const list = allow.join(', ');
  return new DomainError('method-not-allowed', `${method} is not possible here.`, `Use ${list}.`, {
    headers: { Allow: list },
    members: { allow },
  });
}

export function refuseAddress(): DomainError {
  return notFound('address', 'See /docs for what there is.');
}
