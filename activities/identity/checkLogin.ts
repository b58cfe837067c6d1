import { DomainError } from '../../core/errors.ts';
import { groupAddress } from '../../core/networkAddress.ts';
import { beginLogin, endLogin } from '../../store/pg/rates.ts';
import { findUserByLogin, type UserRecord } from '../../store/pg/users.ts';
import { checkPassword } from '../../store/secrets.ts';
import { makeId, type Services } from '../../store/services.ts';
import { unauthenticated } from './refusals.ts';

const badTriesPerMinute = 5;

/** Returns the user if the password is right. Failed attempts are counted per e-mail and network address, across processes. */
export async function checkLogin(services: Services, given: { email: string; password: string; address: string }): Promise<UserRecord> {
  const attempt = makeId('req');
  const subjects = [`email ${given.email.toLowerCase()}`, `address ${groupAddress(given.address)}`];
  if (!(await beginLogin(services.db.pool, subjects, attempt, badTriesPerMinute))) {
    throw new DomainError('rate-limited', 'Too many bad log-ins for this e-mail or address.', 'Wait a minute, then try again.', {
      headers: { 'Retry-After': '60' },
    });
  }
  const user = await findUserByLogin(services.db.orm, given.email);
  const good = await checkPassword(given.password, user?.passwordHash ?? null);
  await endLogin(services.db.pool, attempt, good);
  if (!good || !user) throw unauthenticated('The e-mail or the password is wrong.', 'Check both and log in again.');
  return user;
}

const signUpsPerMinute = 30;

/** Prevents one network address from creating many users. */
export async function limitSignUps(services: Services, address: string): Promise<void> {
  if (!services.config.rateLimits) return;
  const attempt = makeId('req');
  if (await beginLogin(services.db.pool, [`sign-up ${groupAddress(address)}`], attempt, signUpsPerMinute)) {
    // Every attempt counts, whatever its outcome.
    await endLogin(services.db.pool, attempt, false);
    return;
  }
  throw new DomainError('rate-limited', 'Too many sign-ups from this address.', 'Wait a minute, then try again.', {
    headers: { 'Retry-After': '60' },
  });
}
