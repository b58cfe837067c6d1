import { DomainError } from '../../core/errors.ts';

export function unauthenticated(detail: string): DomainError {
  return new DomainError('unauthenticated', detail, 'Send Authorization: Bearer with a valid access token, account key or session token.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

export function tokenExpired(what: string): DomainError {
  return new DomainError('token-expired', `The ${what} has expired.`, 'Log in again, or mint a new token.', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });
}
