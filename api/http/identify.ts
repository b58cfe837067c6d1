import type { Context } from 'koa';
import { authenticate } from '../../activities/identity/authenticate.ts';
import { adviseKinds, refuseKind, unauthenticated } from '../../activities/identity/refusals.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { Services } from '../../store/services.ts';
import { readConsoleCookie } from './consoleCookie.ts';
import type { Operation } from './contract.ts';

/** Who asks, if it is somebody whom the operation accepts. */
export async function identify(services: Services, operation: Operation, ctx: Context): Promise<Principal> {
  try {
    const principal = await authenticate(services, readToken(services, ctx));
    if (operation.accepts.includes(principal.kind)) return principal;
    throw refuseKind(principal.kind, operation.accepts);
  } catch (error) {
    throw adviseKinds(error, operation.accepts);
  }
}

/** A token that is sent counts before a cookie, which a browser adds by itself. */
function readToken(services: Services, ctx: Context): string {
  const authorization = ctx.get('Authorization');
  const inCookie = authorization === '' ? readConsoleCookie((header) => ctx.get(header) || null, services.config.publicUrl) : null;
  return inCookie ?? readBearer(authorization);
}

function readBearer(header: string): string {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(header) ?? [];
  if (bearer) return bearer;
  throw unauthenticated(header === '' ? 'The request carries no credential.' : 'The Authorization header is not Bearer and a token.');
}
