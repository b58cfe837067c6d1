import { scopes } from '../../core/access/scopes.ts';
import { type ApiClient, ok, startTestApi } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace, mintToken } from '../setup/credentials.ts';

/** Two people, of whom one has workbooks in several workspaces. */
export async function startReach() {
  // The rates have their own tests; these here are many requests by few people.
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  const [alice, bob] = [await api.signUp('Alice'), await api.signUp('Bob')];
  const home = ok(await alice.client.GET('/api/v1/me')).workspace_id ?? '';
  const [team, other] = [await makeWorkspace(alice.client, 'Team'), await makeWorkspace(alice.client, 'Other')];
  const inTeam = await makeWorkbook(alice.client, 'In the team', team);
  const alsoInTeam = await makeWorkbook(alice.client, 'Also in the team', team);
  const inOther = await makeWorkbook(alice.client, 'In the other', other);
  const bobs = await makeWorkbook(bob.client, 'Bob’s');
  const bobsWorkspace = ok(await bob.client.GET('/api/v1/me')).workspace_id ?? '';
  const tokenFor = async (resource: string): Promise<ApiClient> => api.as((await mintToken(alice.client, { scopes: all, resource })).text);
  return { api, alice, bob, home, team, other, inTeam, alsoInTeam, inOther, bobs, bobsWorkspace, tokenFor };
}

export const all = [...scopes];
export const workbook = (id: string) => ({ params: { path: { workbook_id: id } } });
export const workspace = (id: string) => ({ params: { path: { workspace_id: id } } });
