import { checkLogin } from '../../activities/identity/checkLogin.ts';
import { endSession } from '../../activities/identity/endSession.ts';
import { prepareSignUp } from '../../activities/identity/prepareSignUp.ts';
import { signUp, startSession } from '../../activities/identity/signUp.ts';
import type { Handlers } from '../http/call.ts';
import { dropConsoleCookie, requireConsolePage, writeConsoleCookie } from '../http/consoleCookie.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentSession, presentUser } from '../presenters/identity.ts';

export function makeAuthHandlers({
  services,
}: ApiParts): Handlers<'signUp' | 'logIn' | 'logOut' | 'openConsoleSession' | 'closeConsoleSession'> {
  const { publicUrl } = services.config;
  return {
    async signUp(call) {
      const email = call.body.email.toLowerCase();
      const person = await prepareSignUp(services, { email, password: call.body.password, name: call.body.name ?? null }, call.address);
      call.idempotencyScope(`email ${email}`);
      return call.writeAs(call.actor(email))(
        (tx) => signUp(services, tx, person),
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
      return call.write(
        (tx) => endSession(tx, call.principal),
        () => ({ status: 204 }),
      );
    },

    async openConsoleSession(call) {
      requireConsolePage(call.header, publicUrl);
      const email = call.body.email.toLowerCase();
      const user = await checkLogin(services, { email, password: call.body.password, address: call.address });
      return call.writeAs(call.actor(email))(
        (tx) => startSession(services, tx, user),
        ({ user, token, expiresAt }) => ({
          status: 200,
          headers: writeConsoleCookie(token, expiresAt, publicUrl),
          body: { user: presentUser(user), expires_at: expiresAt.toISOString() },
        }),
      );
    },

    async closeConsoleSession(call) {
      return call.write(
        (tx) => endSession(tx, call.principal),
        () => ({ status: 204, headers: dropConsoleCookie(publicUrl) }),
      );
    },
  };
}
