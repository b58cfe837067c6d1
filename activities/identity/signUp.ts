import { DomainError } from '../../core/errors.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { findUserByEmail, insertSession, type UserRecord } from '../../store/pg/users.ts';
import { makeId, type Services } from '../../store/services.ts';
import { provisionUser } from './provisionUser.ts';
import { sessionHours, signSessionToken } from './sessionToken.ts';

export interface StartedSession {
  user: UserRecord;
  token: string;
  expiresAt: Date;
}

export async function signUp(
  services: Services,
  tx: Tx,
  person: { email: string; passwordHash: string; name: string | null },
): Promise<StartedSession> {
  if (await findUserByEmail(tx.orm, person.email)) throw emailTaken();
  let user: UserRecord;
  try {
    user = await provisionUser(tx, person, 'sign-up');
  } catch (error) {
    // Two sign-ups at once: the other one was first.
    if (brokenConstraint(error) === 'users_login_email') throw emailTaken();
    throw error;
  }
  return startSession(services, tx, user);
}

export async function startSession(services: Services, tx: Tx, user: UserRecord): Promise<StartedSession> {
  const claims = {
    jti: makeId('ses'),
    userId: user.id,
    expiresAt: new Date(Math.floor(tx.at.getTime() / 1000) * 1000 + sessionHours * 3_600_000),
  };
  await insertSession(tx, { jti: claims.jti, userId: user.id, expiresAt: claims.expiresAt, createdAt: tx.at });
  return { user, token: await signSessionToken(services.sessionKey, claims), expiresAt: claims.expiresAt };
}

function emailTaken(): DomainError {
  return new DomainError('name-taken', 'A user with this e-mail exists already.', 'Log in instead, or use another e-mail.', {
    errors: [{ pointer: '/email', detail: 'is taken' }],
  });
}
