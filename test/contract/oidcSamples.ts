import type { TestServer } from '../setup/api.ts';
import { audience, clientId, startIssuer, type TestIssuer } from '../setup/issuer.ts';
import type { MakeSample } from './sample.ts';
import type { World } from './world.ts';

const page = { 'X-SVC-Console': '1' };
const servers = new WeakMap<World['api'], Promise<{ issuer: TestIssuer; at: TestServer }>>();

/** A server over the same database whose people log in at an identity provider. The provider ends with the process. */
function findServer({ api }: World) {
  const open = async () => {
    const issuer = await startIssuer();
    return { issuer, at: await api.another({ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: audience, OIDC_CLIENT_ID: clientId }) };
  };
  const server = servers.get(api) ?? open();
  servers.set(api, server);
  return server;
}

export const oidcSamples = {
  async beginOidcLogIn(world) {
    const { at } = await findServer(world);
    return { path: '/api/auth/console/oidc', headers: page, token: null, at };
  },
  async finishOidcLogIn(world) {
    const { issuer, at } = await findServer(world);
    const begun = await at.fetch('/api/auth/console/oidc', { method: 'POST', headers: page });
    const { authorize_url: address } = (await begun.json()) as { authorize_url: string };
    const [Cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
    return { path: '/api/auth/console/oidc/code', body: issuer.giveCode(address), headers: { ...page, Cookie }, token: null, at };
  },
} satisfies Record<string, MakeSample>;
