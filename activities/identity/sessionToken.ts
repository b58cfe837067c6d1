import { errors, jwtVerify, SignJWT } from 'jose';
import { tokenExpired, unauthenticated } from './refusals.ts';

export const sessionIssuer = 'urn:svc:sessions';
export const sessionHours = 12;

export interface SessionClaims {
  jti: string;
  userId: string;
  expiresAt: Date;
}

export async function signSessionToken(key: Buffer, claims: SessionClaims): Promise<string> {
  return new SignJWT({})
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(sessionIssuer)
    .setSubject(claims.userId)
    .setJti(claims.jti)
    .setIssuedAt(new Date(claims.expiresAt.getTime() - sessionHours * 3_600_000))
    .setExpirationTime(claims.expiresAt)
    .sign(key);
}

/** Decoders of base64url ignore padding, blanks and spare bits, so one token could be written in many ways. Only one is taken. */
export function requireOneSpelling(token: string): void {
  if (token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)) return;
  throw unauthenticated('The token is not written as it was issued.');
}

export async function verifySessionToken(key: Buffer, token: string): Promise<SessionClaims> {
  try {
    const { payload } = await jwtVerify(token, key, {
      issuer: sessionIssuer,
      algorithms: ['HS256'],
      requiredClaims: ['sub', 'jti', 'exp'],
    });
    return { jti: payload.jti as string, userId: payload.sub as string, expiresAt: new Date((payload.exp as number) * 1000) };
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw tokenExpired('session');
    throw unauthenticated('The session token is not valid.');
  }
}
