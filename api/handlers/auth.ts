import { checkLogin } from '../../activities/identity/checkLogin.ts';
import { endSession } from '../../activities/identity/endSession.ts';
import { beginOidcLogIn, checkOidcCode, startUserSession, ticketMinutes } from '../../activities/identity/oidcLogIn.ts';
import { prepareSignUp } from '../../activities/identity/prepareSignUp.ts';
import { type StartedSession, signUp, startSession } from '../../activities/identity/signUp.ts';
import type { Handlers } from '../http/call.ts';
import { dropConsoleCookie, readTicketCookie, requireConsolePage, writeConsoleCookie, writeTicketCookie } from '../http/consoleCookie.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentConsoleSession, presentSession } from '../presenters/identity.ts';

type AuthOperations = 'signUp' | 'logIn' | 'logOut' | 'openConsoleSession' | 'closeConsoleSession' | 'beginOidcLogIn' | 'finishOidcLogIn';

export function makeAuthHandlers({ services }: ApiParts): Handlers<AuthOperations> {
  const { publicUrl } = services.config;
  const cookieOf = ({ token, expiresAt }: StartedSession) => writeConsoleCookie(token, expiresAt, publicUrl);
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
        (session) => ({ status: 200, headers: cookieOf(session), body: presentConsoleSession(session) }),
      );
    },

    async beginOidcLogIn(call) {
      requireConsolePage(call.header, publicUrl);
      const { authorizeUrl, ticket } = await beginOidcLogIn(services);
      return { status: 200, headers: writeTicketCookie(ticket, ticketMinutes, publicUrl), body: { authorize_url: authorizeUrl } };
    },

    async finishOidcLogIn(call) {
      requireConsolePage(call.header, publicUrl);
      const { code, state } = call.body;
      const userId = await checkOidcCode(services, { code, state, ticket: readTicketCookie(call.header) });
      return call.writeAs(call.actor('oidc'))(
        (tx) => startUserSession(services, tx, userId),
        (session) => ({ status: 200, headers: cookieOf(session), body: presentConsoleSession(session) }),
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
