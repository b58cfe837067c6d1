import { checkLogin, limitSignUps } from '../../activities/identity/checkLogin.ts';
import { type StartedSession, signUp, startSession } from '../../activities/identity/signUp.ts';
import { DomainError } from '../../core/errors.ts';
import { revokeSession } from '../../store/pg/users.ts';
import { hashPassword } from '../../store/secrets.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentUser } from '../presenters/identity.ts';

const presentSession = (session: StartedSession) => ({
  user: presentUser(session.user),
  session_token: session.token,
  expires_at: session.expiresAt.toISOString(),
});

export function makeAuthHandlers({ services }: ApiParts): Handlers<'signUp' | 'logIn' | 'logOut'> {
  return {
    async signUp(call) {
      if (!services.config.signup) {
        throw new DomainError(
          'not-yet-available',
          'Sign-up is switched off on this installation.',
          'Ask its operator for an account, or log in.',
        );
      }
      await limitSignUps(services, call.address);
      const email = call.body.email.toLowerCase();
      call.idempotencyScope(`email ${email}`);
      const passwordHash = await hashPassword(call.body.password);
      return call.writeAs(call.actor(email))(
        (tx) => signUp(services, tx, { email, passwordHash, name: call.body.name ?? null }),
        (session) => ({ status: 201, body: presentSession(session) }),
      );
    },

    async logIn(call) {
      const email = call.body.email.toLowerCase();
      call.idempotencyScope(`email ${email}`);
      const user = await checkLogin(services, { email, password: call.body.password, address: call.address });
      return call.writeAs(call.actor(email))(
        (tx) => startSession(services, tx, user),
        (session) => ({ status: 200, body: presentSession(session) }),
      );
    },

    async logOut(call) {
      const { principal } = call;
      const session = { jti: principal.credentialId, userId: principal.userId, expiresAt: principal.expiresAt ?? new Date() };
      return call.write(
        (tx) => revokeSession(tx, session),
        () => ({ status: 204 }),
      );
    },
  };
}
