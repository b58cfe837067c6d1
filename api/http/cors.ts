import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Operation } from './contract.ts';

const preflightSeconds = 600;

/**
 * Lets pages of other origins call the service; `*` is any page. Credentials travel in headers that such a page sets
 * itself: the console's cookie is for the console alone, and browsers are not allowed to send it from elsewhere.
 */
export function allowOrigins(origins: string[], operations: Operation[]): Middleware {
  const isAllowed = (origin: string) => origins.includes(origin);
  return cors({
    origin: (ctx) => (origins.includes('*') ? '*' : isAllowed(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    maxAge: preflightSeconds,
    exposeHeaders: listResponseHeaders(operations),
  });
}

/** The names of all headers that the contract declares for answers: a page can read no others. */
function listResponseHeaders(operations: Operation[]): string[] {
  const responses = operations.flatMap(({ backend }) => Object.values((backend.responses ?? {}) as Record<string, { headers?: object }>));
  return [...new Set(responses.flatMap(({ headers }) => Object.keys(headers ?? {})))].sort();
}
