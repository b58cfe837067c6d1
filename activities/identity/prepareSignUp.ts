import { DomainError } from '../../core/errors.ts';
import { hashPassword } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';
import { limitSignUps } from './checkLogin.ts';

export interface SigningUp {
  email: string;
  passwordHash: string;
  name: string | null;
}

/** Refuses a sign-up where it is disabled, or after too many from one network address. */
export async function prepareSignUp(
  services: Services,
  person: { email: string; password: string; name: string | null },
  address: string,
): Promise<SigningUp> {
  if (!services.config.signup)
    throw new DomainError('not-configured', 'Sign-up is switched off on this installation.', 'Ask its operator for an account, or log in.');
  await limitSignUps(services, address);
  return { email: person.email, name: person.name, passwordHash: await hashPassword(person.password) };
}
