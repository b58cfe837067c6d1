import type { Context, Middleware } from 'koa';

/** On every answer. A page that shows more than text brings a policy of its own. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/**
 * Caches keep nothing that does not say so itself, since any answer may hold a token or somebody's cells. One with an ETag may
 * be kept by its caller, who asks again each time.
 */
function chooseCaching({ response }: Context): string {
  return response.get('Cache-Control') || (response.get('ETag') ? 'private, no-cache' : 'no-store');
}

export const setSecurityHeaders: Middleware = async (ctx, next) => {
  ctx.set(securityHeaders);
  await next();
  ctx.set('Cache-Control', chooseCaching(ctx));
};
