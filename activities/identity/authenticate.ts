import type { Principal } from '../../core/access/principal.ts';
import { parseReach } from '../../core/access/reach.ts';
import { scopes as allScopes, type Scope } from '../../core/access/scopes.ts';
import { findKnownCredential, type KnownCredential } from '../../store/pg/credentials.ts';
import { findSessionUser, type SessionUser } from '../../store/pg/users.ts';
import { equalInConstantTime } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';
import { issuerOf, verifyIssuedToken } from './oidc.ts';
import { provisionIdentity } from './provisionIdentity.ts';
import { tokenExpired, unauthenticated } from './refusals.ts';
import { requireOneSpelling, sessionIssuer, verifySessionToken } from './sessionToken.ts';
import { parseTokenText } from './tokenText.ts';

const sessionRateLimit = 600;

/** The principal of a bearer token. Looked up on every request, so that a revocation takes effect at once. */
export async function authenticate(services: Services, bearer: string): Promise<Principal> {
  return /^svc_(pat|key)_/.test(bearer) ? byCredential(services, bearer) : bySession(services, bearer);
}

async function byCredential(services: Services, bearer: string): Promise<Principal> {
  const parsed = parseTokenText(bearer);
  const known = parsed && (await findKnownCredential(services.db, parsed.id));
  if (!known || !equalInConstantTime(known.secretHash, parsed.secretHash)) throw unauthenticated('The token is not known.');
  if (known.revokedAt) throw unauthenticated('The token was revoked.');
  if (known.expiresAt && known.expiresAt <= new Date()) throw tokenExpired('token');
  return credentialPrincipal(known);
}

export function credentialPrincipal(known: KnownCredential): Principal {
  const reach = parseReach(known.resource);
  if (!reach) throw new Error(`credential ${known.id} has an unreadable resource`);
  return {
    kind: known.kind,
    credentialId: known.id,
    userId: known.userId,
    email: known.email,
    userName: known.userName,
    accountId: known.accountId,
    accountName: known.accountName,
    accountIds: [known.accountId],
    scopes: known.scopes as Scope[],
    reach,
    rateLimitPerMinute: known.rateLimitPerMinute,
    ancestors: known.ancestors,
    expiresAt: known.expiresAt,
  };
}

async function bySession(services: Services, bearer: string): Promise<Principal> {
  const issuer = issuerOf(bearer);
  if (issuer !== null) requireOneSpelling(bearer);
  if (issuer === sessionIssuer) {
    const claims = await verifySessionToken(services.sessionKey, bearer);
    const user = await findSessionUser(services.db, claims.jti, claims.userId);
    if (!user?.known || user.revoked) throw unauthenticated('The session was ended.');
    return sessionPrincipal(user, claims.jti, claims.expiresAt);
  }
  if (services.config.oidc && issuer === services.config.oidc.issuer) {
    const claims = await verifyIssuedToken(services.config.oidc, bearer);
    const userId = await provisionIdentity(services, claims);
    const user = await findSessionUser(services.db, claims.jti, userId);
    if (!user || user.revoked) throw unauthenticated('The session was ended.');
    return sessionPrincipal(user, claims.jti, claims.expiresAt);
  }
  throw unauthenticated('The token is not one of ours.');
}

/** A session has every scope and reaches all that its user owns or is a member of. */
export function sessionPrincipal(user: SessionUser, jti: string, expiresAt: Date | null): Principal {
  return {
    kind: 'session',
    credentialId: jti,
    userId: user.userId,
    email: user.email,
    userName: user.userName,
    accountId: user.accountId,
    accountName: user.accountName,
    accountIds: user.accountIds,
    scopes: [...allScopes],
    reach: { kind: 'account' },
    rateLimitPerMinute: sessionRateLimit,
    ancestors: [],
    expiresAt,
  };
}
