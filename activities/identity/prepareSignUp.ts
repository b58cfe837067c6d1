import { DomainError } from '../../core/errors.ts';
import { requireName } from '../../core/names.ts';
import { isCommonPassword } from '../../store/commonPasswords.ts';
import { hashPassword } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';
import { limitSignUps } from './checkLogin.ts';

export interface SigningUp {
  email: string;
  passwordHash: string;
  name: string | null;
}

/** Refuses a sign-up where it is disabled, with a password that is easily guessed, or after too many from one network address. */
export async function prepareSignUp(
  services: Services,
  person: { email: string; password: string; name: string | null },
  address: string,
): Promise<SigningUp> {
  if (!services.config.signup)
    throw new DomainError('not-configured', 'Sign-up is switched off on this installation.', 'Ask its operator for an account, or log in.');
  if (person.name?.trim()) requireName(person.name, '/name');
  await limitSignUps(services, address);
  await refuseGuessable(person);
  return { email: person.email, name: person.name, passwordHash: await hashPassword(person.password) };
}

async function refuseGuessable({ email, password }: { email: string; password: string }): Promise<void> {
  const isOwn = [email, email.split('@')[0]].includes(password.toLowerCase());
  if (!isOwn && !(await isCommonPassword(password))) return;
  const detail = isOwn ? 'is the e-mail address' : 'is one that many people use, or such a one with digits behind it';
  throw new DomainError(
    'validation-failed',
    `/password: ${detail}.`,
    'Choose another one: a few words that do not belong together will do.',
    {
      errors: [{ pointer: '/password', detail }],
    },
  );
}
