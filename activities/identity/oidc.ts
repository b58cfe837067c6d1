import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { DomainError } from '../../core/errors.ts';
import { dropUnseen } from '../../core/names.ts';
import { sha256 } from '../../store/secrets.ts';
import { tokenExpired, unauthenticated } from './refusals.ts';

export interface IssuedClaims {
  issuer: string;
  subject: string;
  jti: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
  nonce: string | null;
  expiresAt: Date;
}

/** The issuer that a token names; the token is not verified yet. */
export function issuerOf(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null;
  } catch {
    return null;
  }
}

const toleranceSeconds = 30;
const providers = new Map<string, Promise<Provider>>();
const discoveryTimeoutMs = 5_000;

/** Verifies a token of the configured issuer with the keys from its discovery document. */
export async function verifyIssuedToken(oidc: { issuer: string; audience: string }, token: string): Promise<IssuedClaims> {
  const { keys } = await findProvider(oidc.issuer);
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: oidc.issuer,
      audience: oidc.audience,
      // Only asymmetric algorithms: with a symmetric one, the public key would be accepted as the secret.
      algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
      requiredClaims: ['sub', 'exp'],
      clockTolerance: toleranceSeconds,
    });
    return {
      issuer: oidc.issuer,
      subject: payload.sub as string,
      // Of what is signed: some signatures can be written in two ways.
      jti: payload.jti ?? sha256(token.slice(0, token.lastIndexOf('.'))).toString('base64url'),
      email: typeof payload.email === 'string' ? payload.email : null,
      emailVerified: payload.email_verified === true,
      name: typeof payload.name === 'string' ? dropUnseen(payload.name.replace(/\s+/g, ' ')).slice(0, 120).toWellFormed() || null : null,
      nonce: typeof payload.nonce === 'string' ? payload.nonce : null,
      // Until the token is no longer accepted, so that a logout is remembered that long.
      expiresAt: new Date(((payload.exp as number) + toleranceSeconds) * 1000),
    };
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw tokenExpired('session');
    // A bad token is the caller's fault; unreachable keys are not.
    if (!isAboutToken(error)) throw issuerAway(error);
    throw unauthenticated('The token of the identity provider is not valid.');
  }
}

/** What the issuer says of itself in its discovery document. */
export interface Provider {
  keys: JWTVerifyGetKey;
  authorizeUrl: string | null;
  tokenUrl: string | null;
}

export function findProvider(issuer: string): Promise<Provider> {
  const known = providers.get(issuer);
  if (known) return known;
  const found = discover(issuer);
  providers.set(issuer, found);
  // Failures are not cached: the next request tries again.
  found.catch(() => providers.delete(issuer));
  return found;
}

async function discover(issuer: string): Promise<Provider> {
  try {
    const answer = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(discoveryTimeoutMs),
    });
    const document = (await answer.json()) as Record<
      'issuer' | 'jwks_uri' | 'authorization_endpoint' | 'token_endpoint',
      string | undefined
    >;
    if (!answer.ok || document.issuer !== issuer || !document.jwks_uri) throw new Error('the discovery document does not fit the issuer');
    return {
      keys: createRemoteJWKSet(new URL(document.jwks_uri), { timeoutDuration: discoveryTimeoutMs }),
      authorizeUrl: document.authorization_endpoint ?? null,
      tokenUrl: document.token_endpoint ?? null,
    };
  } catch (error) {
    throw issuerAway(error);
  }
}

export function issuerAway(cause: unknown): DomainError {
  return new DomainError('unavailable', 'The identity provider cannot be reached just now.', 'Try again in a few seconds.', {
    cause,
    headers: { 'Retry-After': '5' },
  });
}

/** Errors of the token itself; all others come from fetching the issuer's keys. */
function isAboutToken(error: unknown): boolean {
  const kinds = [
    errors.JWTInvalid,
    errors.JWTClaimValidationFailed,
    errors.JWSInvalid,
    errors.JWSSignatureVerificationFailed,
    errors.JWKSNoMatchingKey,
    errors.JOSEAlgNotAllowed,
    errors.JOSENotSupported,
  ];
  return kinds.some((kind) => error instanceof kind);
}
