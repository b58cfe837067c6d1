import { jwtVerify, SignJWT } from 'jose';
import { DomainError } from '../../core/errors.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findUsers } from '../../store/pg/users.ts';
import { makeSecret, sha256 } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';
import { findProvider, issuerAway, verifyIssuedToken } from './oidc.ts';
import { provisionIdentity } from './provisionIdentity.ts';
import { unauthenticated } from './refusals.ts';
import { type StartedSession, startSession } from './signUp.ts';

/** Log-in to the console at the identity provider: authorization code with PKCE. */

const ticketIssuer = 'urn:svc:oidc-log-in';
export const ticketMinutes = 10;
const exchangeTimeoutMs = 10_000;

const redirectUri = ({ config }: Services) => `${config.publicUrl.replace(/\/$/, '')}/log-in`;

export interface BegunLogIn {
  authorizeUrl: string;
  /** Ties the way back to the browser that began; it is to be kept there, out of reach of scripts. */
  ticket: string;
}

export async function beginOidcLogIn(services: Services): Promise<BegunLogIn> {
  const { issuer, client } = requireClient(services);
  const { authorizeUrl } = await findProvider(issuer);
  if (authorizeUrl === null) throw notConfigured();
  const [state, nonce, verifier] = [makeSecret(), makeSecret(), makeSecret()];
  const address = new URL(authorizeUrl);
  const wanted = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri(services),
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: sha256(verifier).toString('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(wanted)) address.searchParams.set(name, value);
  const ticket = await new SignJWT({ state, nonce, verifier })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ticketIssuer)
    .setExpirationTime(`${ticketMinutes}m`)
    .sign(services.sessionKey);
  return { authorizeUrl: address.href, ticket };
}

/** The id of the user whom the provider vouches for; made at the first log-in. */
export async function checkOidcCode(services: Services, given: { code: string; state: string; ticket: string | null }): Promise<string> {
  const { issuer, client } = requireClient(services);
  const { state, nonce, verifier } = await readTicket(services, given.ticket);
  if (state !== given.state) throw notBegunHere();
  const token = await exchangeCode(services, given.code, verifier);
  // The token is for this client, whatever audience other tokens of the issuer carry.
  const claims = await verifyIssuedToken({ issuer, audience: client.id }, token).catch((error: unknown) => {
    const isOld = error instanceof DomainError && error.code === 'token-expired';
    throw isOld ? unauthenticated('The token of the identity provider has expired.', 'Log in again.') : error;
  });
  if (claims.nonce !== nonce) throw unauthenticated('The token of the identity provider belongs to another log-in.', 'Log in again.');
  return provisionIdentity(services, claims);
}

export async function startUserSession(services: Services, tx: Tx, userId: string): Promise<StartedSession> {
  const [user] = await findUsers(tx.orm, [userId]);
  if (!user) throw unauthenticated('The user is not there any more.', 'Log in again.');
  return startSession(services, tx, user);
}

async function readTicket(services: Services, ticket: string | null): Promise<{ state: unknown; nonce: unknown; verifier: string }> {
  try {
    const { payload } = await jwtVerify(ticket ?? '', services.sessionKey, { issuer: ticketIssuer, algorithms: ['HS256'] });
    return { state: payload.state, nonce: payload.nonce, verifier: String(payload.verifier) };
  } catch {
    throw notBegunHere();
  }
}

async function exchangeCode(services: Services, code: string, verifier: string): Promise<string> {
  const { issuer, client } = requireClient(services);
  const { tokenUrl } = await findProvider(issuer);
  if (tokenUrl === null) throw notConfigured();
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(services),
    client_id: client.id,
    code_verifier: verifier,
    ...(client.secret === null ? {} : { client_secret: client.secret }),
  });
  const headers = { Accept: 'application/json' };
  const answer = await fetch(tokenUrl, { method: 'POST', body, headers, signal: AbortSignal.timeout(exchangeTimeoutMs) }).catch(
    (error: unknown) => {
      throw issuerAway(error);
    },
  );
  const { id_token: token } = (await answer.json().catch(() => ({}))) as { id_token?: unknown };
  if (answer.status >= 500) throw issuerAway(new Error(`the token endpoint answered ${answer.status}`));
  if (!answer.ok || typeof token !== 'string') throw unauthenticated('The identity provider did not take the code.', 'Log in again.');
  return token;
}

function requireClient({ config }: Services) {
  if (!config.oidc?.client) throw notConfigured();
  return { issuer: config.oidc.issuer, client: config.oidc.client };
}

const notBegunHere = () => unauthenticated('This log-in was not begun in this browser, or too long ago.', 'Log in again.');

function notConfigured(): DomainError {
  return new DomainError(
    'not-configured',
    'No log-in at an identity provider is configured.',
    'Log in with a password, or set OIDC_CLIENT_ID.',
  );
}
