import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../setup/api.ts';
import { audience, clientId, startIssuer, type TestIssuer } from '../setup/issuer.ts';

/** Log-in to the console at an identity provider of our own. */

let issuer: TestIssuer;
let api: TestApi;
beforeAll(async () => {
  issuer = await startIssuer();
  api = await startTestApi({
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: audience,
    OIDC_CLIENT_ID: clientId,
    SVC_PUBLIC_URL: 'https://tables.example.com/',
    SVC_RATE_LIMITS: 'off',
  });
});
afterAll(async () => {
  await api.stop();
  await issuer.stop();
});

const page = { 'X-SVC-Console': '1' };
const cookieOf = (answer: Response) => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

async function begin(): Promise<{ address: string; ticket: string }> {
  const answer = await api.fetch('/api/auth/console/oidc', { method: 'POST', headers: page });
  expect(answer.headers.get('set-cookie')).toMatch(/^svc_oidc=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/api; Secure; Max-Age=600$/);
  return { address: ((await answer.json()) as { authorize_url: string }).authorize_url, ticket: cookieOf(answer) };
}

const finish = (given: { code: string; state: string }, headers: Record<string, string>) =>
  api.fetch('/api/auth/console/oidc/code', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...page, ...headers },
    body: JSON.stringify(given),
  });

describe('beginOidcLogIn', () => {
  it('sends people to the provider, with a way back to this service alone', async () => {
    const { address } = await begin();
    const asked = new URL(address);
    expect(`${asked.origin}${asked.pathname}`).toBe(`${issuer.url}/authorize`);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: 'https://tables.example.com/log-in',
      code_challenge_method: 'S256',
    });
  });

  it('is told of at the address itself', async () => {
    expect(await (await api.fetch('/')).json()).toMatchObject({ log_in: { oidc: true } });
  });
});

describe('finishOidcLogIn', () => {
  it('makes the user at the first log-in, and finds them again', async () => {
    const users: string[] = [];
    for (let i = 0; i < 2; i++) {
      const { address, ticket } = await begin();
      const claims = { sub: 'console-1', email: 'console@corp.example', email_verified: true };
      const answer = await finish(issuer.giveCode(address, claims), { Cookie: ticket });
      expect(answer.headers.get('set-cookie')).toMatch(/^svc_console=[\w.-]+; HttpOnly; SameSite=Strict/);
      const me = await api.fetch('/api/v1/me', { headers: { ...page, Cookie: cookieOf(answer) } });
      const { user, credential } = (await me.json()) as { user: { id: string; email: string }; credential: { kind: string } };
      expect([user.email, credential.kind]).toEqual(['console@corp.example', 'session']);
      users.push(user.id);
    }
    expect(users[0]).toBe(users[1]);
  });

  it('takes a code only in the browser that began, once, and by the page itself', async () => {
    const [mine, other] = [await begin(), await begin()];
    const given = issuer.giveCode(mine.address);
    expect((await finish(given, {})).status).toBe(401);
    expect((await finish(given, { Cookie: other.ticket })).status).toBe(401);
    expect((await finish({ ...given, state: 'another' }, { Cookie: mine.ticket })).status).toBe(401);
    expect((await finish(given, { Cookie: mine.ticket, 'X-SVC-Console': '0' })).status).toBe(401);
    expect((await finish(given, { Cookie: mine.ticket })).status).toBe(200);
    expect((await finish(given, { Cookie: mine.ticket })).status).toBe(401);
  });

  it.each([
    ['of another log-in', { nonce: 'another' }],
    ['for another client', { aud: audience }],
    ['that has expired', { exp: 1 }],
  ])('refuses a token %s', async (_, claims) => {
    const { address, ticket } = await begin();
    expect((await finish(issuer.giveCode(address, claims), { Cookie: ticket })).status).toBe(401);
  });

  it('takes no session for the ticket, and no ticket for a session', async () => {
    const { address, ticket } = await begin();
    const given = issuer.giveCode(address);
    const session = cookieOf(await finish(given, { Cookie: ticket })).replace('svc_console=', '');
    expect((await finish(issuer.giveCode(address), { Cookie: `svc_oidc=${session}` })).status).toBe(401);
    const me = await api.fetch('/api/v1/me', { headers: { ...page, Cookie: ticket.replace('svc_oidc', 'svc_console') } });
    expect(me.status).toBe(401);
  });
});
