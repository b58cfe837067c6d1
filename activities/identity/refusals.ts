import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';

type Kind = Principal['kind'];

const kindNames: Record<Kind, string> = {
  session: 'a session token',
  account_key: 'an account key',
  access_token: 'a personal access token',
};

const nameKinds = (kinds: Kind[]) => kinds.map((kind) => kindNames[kind]).join(' or ');

export function unauthenticated(detail: string, suggestedFix = 'Send a valid credential.'): DomainError {
  return new DomainError('unauthenticated', detail, suggestedFix, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

export function tokenExpired(what: 'session' | 'token'): DomainError {
  return new DomainError('token-expired', `The ${what} has expired.`, what === 'session' ? 'Log in again.' : 'Mint a new token.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });
}

export function refuseKind(given: Kind, taken: Kind[]): DomainError {
  return unauthenticated(`This operation does not take ${kindNames[given]}.`, sendKind(taken));
}

/** The refusal of a credential, with the kinds that the operation takes. Other errors stay as they are. */
export function adviseKinds(error: unknown, taken: Kind[]): unknown {
  if (!(error instanceof DomainError) || error.status !== 401) return error;
  const fix = error.code === 'token-expired' ? `${error.suggestedFix} ${sendKind(taken)}` : sendKind(taken);
  return new DomainError(error.code, error.detail, fix, error.extras);
}

const sendKind = (taken: Kind[]) => `Send Authorization: Bearer with ${nameKinds(taken)}.`;
