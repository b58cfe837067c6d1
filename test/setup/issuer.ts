import { createHash, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** An OpenID Connect issuer of our own: discovery, keys, and tokens of any kind. */
export interface TestIssuer {
  url: string;
  /** A token as this issuer gives it; `change` overrides claims, undefined takes one away. */
  sign(change?: JWTPayload, header?: { alg?: string; kid?: string; key?: CryptoKey | Uint8Array }): Promise<string>;
  /** The public key as text, with which somebody could try to sign by HS256. */
  publicKey: string;
  /** How the two addresses answer. */
  answers: { discovery: number; keys: number; issuer?: string };
  /** What the page of the issuer does once somebody has logged in there: gives a code for the address that it was asked with. */
  giveCode(authorizeUrl: string, claims?: JWTPayload): { code: string; state: string };
  /** Signs with a new key from now on, which is in the key set as well. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
}

export const audience = 'workbook-service';
export const clientId = 'workbook-console';

export async function startIssuer(): Promise<TestIssuer> {
  const first = await generateKeyPair('RS256');
  const keys = [{ kid: 'first', pair: first }];
  const answers: TestIssuer['answers'] = { discovery: 200, keys: 200 };
  const codes = new Map<string, { asked: URLSearchParams; claims: JWTPayload }>();
  let url = '';
  const server: Server = createServer(async (request, response) => {
    if (request.url === '/token') {
      const token = await exchange(new URLSearchParams(await text(request)));
      response.writeHead(token === null ? 400 : 200, { 'Content-Type': 'application/json' });
      return response.end(JSON.stringify(token === null ? { error: 'invalid_grant' } : { id_token: token, token_type: 'Bearer' }));
    }
    const found = request.url === '/.well-known/openid-configuration' ? 'discovery' : 'keys';
    response.writeHead(answers[found], { 'Content-Type': 'application/json' });
    if (found === 'discovery')
      return response.end(
        JSON.stringify({
          issuer: answers.issuer ?? url,
          jwks_uri: `${url}/keys`,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
        }),
      );
    const published = await Promise.all(
      keys.map(async ({ kid, pair }) => ({ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' })),
    );
    response.end(JSON.stringify({ keys: published }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const sign: TestIssuer['sign'] = async (change = {}, header = {}) => {
    const current = keys.at(-1) ?? { kid: 'first', pair: first };
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: url, aud: audience, sub: 'someone', iat: now, exp: now + 600, ...change };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: header.alg ?? 'RS256', kid: header.kid ?? current.kid })
      .sign(header.key ?? current.pair.privateKey);
  };
  /** The token for a code, once, for who can show what the code was asked for with. */
  const exchange = async (form: URLSearchParams): Promise<string | null> => {
    const given = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const fits = ['client_id', 'redirect_uri'].every((name) => form.get(name) === given?.asked.get(name));
    if (!given || !fits || challenge !== given.asked.get('code_challenge')) return null;
    return sign({ aud: clientId, nonce: given.asked.get('nonce') ?? '', ...given.claims });
  };
  return {
    url,
    answers,
    sign,
    giveCode(authorizeUrl, claims = {}) {
      const asked = new URL(authorizeUrl).searchParams;
      const code = randomUUID();
      codes.set(code, { asked, claims });
      return { code, state: asked.get('state') ?? '' };
    },
    publicKey: await exportSPKI(first.publicKey),
    async rotate() {
      keys.push({ kid: `key-${keys.length}`, pair: await generateKeyPair('RS256') });
    },
    stop: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
