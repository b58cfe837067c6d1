import type { Operation, OperationId } from '../../api/http/contract.ts';
import { makeId } from '../../store/services.ts';
import { makeAccount, makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { billingSamples } from './billingSamples.ts';
import { driveSamples } from './driveSamples.ts';
import { makeForm } from './forms.ts';
import { governanceSamples } from './governanceSamples.ts';
import { linkSamples } from './linkSamples.ts';
import { mcpSamples } from './mcpSamples.ts';
import { mergeSamples } from './mergeSamples.ts';
import { oidcSamples } from './oidcSamples.ts';
import type { MakeSample, Sample } from './sample.ts';
import { sheetSamples } from './sheetSamples.ts';
import { sourceSamples } from './sourceSamples.ts';
import { tableSamples } from './tableSamples.ts';
import { transformSamples } from './transformSamples.ts';
import { webhookSamples } from './webhookSamples.ts';
import { type JobSeed, makeJob, type World } from './world.ts';

const ws = (id: string) => `/api/control/workspaces/${id}`;
const wb = (id: string) => `/api/v1/workbooks/${id}`;
const runningJob = (world: World, seed: Partial<JobSeed> = {}) =>
  makeJob(world.api, { accountId: world.accountId, userId: world.owner.userId, workbookId: world.workbook, ...seed });
const endedJob = (world: World) => runningJob(world, { status: 'failed', finishedAt: new Date() });

/** One for each operation that is built. Those that consume something make it first. */
export const samples: Record<OperationId, MakeSample> = {
  ...tableSamples,
  ...mergeSamples,
  ...mcpSamples,
  ...sheetSamples,
  ...governanceSamples,
  ...sourceSamples,
  ...linkSamples,
  ...driveSamples,
  ...transformSamples,
  ...webhookSamples,
  ...billingSamples,
  ...oidcSamples,
  signUp: () => ({
    path: '/api/auth/signup',
    body: { email: `${makeId('usr')}@example.com`, password: 'long enough to pass' },
    token: null,
  }),
  logIn: ({ owner }) => ({ path: '/api/auth/login', body: { email: owner.email, password: owner.password }, token: null }),
  async logOut({ api, viewer }) {
    const session = await api.as().POST('/api/auth/login', { body: { email: viewer.email, password: viewer.password } });
    return { path: '/api/auth/logout', token: session.data?.session_token ?? '' };
  },
  openConsoleSession: ({ owner }) => ({
    path: '/api/auth/console',
    body: { email: owner.email, password: owner.password },
    headers: { 'X-SVC-Console': '1' },
    token: null,
  }),
  async closeConsoleSession({ api, viewer }) {
    const session = await api.as().POST('/api/auth/login', { body: { email: viewer.email, password: viewer.password } });
    return { path: '/api/auth/console', token: session.data?.session_token ?? '' };
  },

  getMe: () => ({ path: '/api/v1/me' }),
  getAccountUsage: () => ({ path: '/api/control/account/usage/series' }),
  getMyUsage: () => ({ path: '/api/v1/me/usage' }),
  listMyWorkspaces: () => ({ path: '/api/v1/me/workspaces' }),
  listMyWorkbooks: () => ({ path: '/api/v1/me/workbooks' }),
  listTokens: () => ({ path: '/api/v1/me/tokens' }),
  createToken: () => ({ path: '/api/v1/me/tokens', body: { name: 'sample' } }),
  revokeToken: async ({ owner }) => ({ path: `/api/v1/me/tokens/${(await mintToken(owner.client)).id}` }),

  getAccount: () => ({ path: '/api/control/account' }),
  listAccounts: () => ({ path: '/api/control/accounts' }),
  createAccount: () => ({ path: '/api/control/accounts', body: { name: 'Sample' } }),
  async deleteAccount({ owner }) {
    const name = 'To go';
    return { path: '/api/control/account/delete', body: { account_id: await makeAccount(owner.client, name), confirm: name } };
  },
  listKeys: () => ({ path: '/api/control/account/keys' }),
  createKey: () => ({ path: '/api/control/account/keys', body: { scopes: ['workbooks:read'] } }),
  revokeKey: async ({ owner }) => ({ path: `/api/control/account/keys/${(await mintKey(owner.client)).id}` }),

  listWorkspaces: () => ({ path: '/api/control/workspaces' }),
  createWorkspace: () => ({ path: '/api/control/workspaces', body: { name: 'Sample' } }),
  getWorkspace: ({ team }) => ({ path: ws(team) }),
  configureWorkspace: ({ team }) => ({ path: ws(team), body: { name: 'Team' } }),
  deleteWorkspace: async ({ owner }) => ({ path: ws(await makeWorkspace(owner.client, 'To go')) }),
  listWorkspaceUsers: ({ team }) => ({ path: `${ws(team)}/users` }),
  addWorkspaceUser: ({ team, viewer }) => ({ path: `${ws(team)}/users`, body: { email: viewer.email, role: 'viewer' } }),
  async removeWorkspaceUser({ owner, viewer }) {
    const workspace = await makeWorkspace(owner.client, 'With a member');
    await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
      params: { path: { workspace_id: workspace } },
      body: { email: viewer.email, role: 'viewer' },
    });
    return { path: `${ws(workspace)}/users/${viewer.userId}` };
  },
  setUserRoles: ({ team, viewer }) => ({ path: `${ws(team)}/users/${viewer.userId}/roles`, body: { roles: ['経理'] } }),
  listWorkspaceWorkbooks: ({ team }) => ({ path: `${ws(team)}/workbooks` }),

  listWorkbooks: () => ({ path: '/api/v1/workbooks' }),
  createWorkbook: () => ({ path: '/api/v1/workbooks', body: { title: 'Sample' } }),
  getWorkbook: ({ workbook }) => ({ path: wb(workbook) }),
  updateWorkbook: ({ workbook }) => ({ path: wb(workbook), body: { title: 'Budget' } }),
  deleteWorkbook: async ({ owner, team }) => ({ path: wb(await makeWorkbook(owner.client, 'To go', team)) }),
  listAuditLog: ({ workbook }) => ({ path: `${wb(workbook)}/audit-log` }),

  listJobs: () => ({ path: '/api/v1/jobs' }),
  getJob: async (world) => ({ path: `/api/v1/jobs/${await runningJob(world)}` }),
  followJob: async (world) => ({ path: `/api/v1/jobs/${await endedJob(world)}/events` }),
  cancelJob: async (world) => ({ path: `/api/v1/jobs/${await runningJob(world)}/cancel` }),

  getHome: () => ({ path: '/' }),
  async getConsoleAsset({ api }) {
    const page = await (await api.fetch('/', { headers: { Accept: 'text/html' } })).text();
    return { path: /\/console\/[^"]+\.js/.exec(page)?.[0] ?? '/console/missing' };
  },
  getHealth: () => ({ path: '/healthz' }),
  getReadiness: () => ({ path: '/readyz' }),
  getMetrics: () => ({ path: '/metrics' }),
  getContract: () => ({ path: '/openapi.yaml' }),
  getContractJson: () => ({ path: '/openapi.json' }),
  getGuide: () => ({ path: '/guide' }),
  getGuidePage: () => ({ path: '/guide/api' }),
  getReference: () => ({ path: '/docs' }),
  getReferenceAsset: () => ({ path: '/docs/swagger-ui.css' }),
};

/** The sample of the operation, for this world. */
export async function makeSample(world: World, operation: Operation): Promise<Sample> {
  return samples[operation.id as OperationId](world);
}

export function sendSample(world: World, operation: Operation, sample: Sample): Promise<Response> {
  const token = sample.token === undefined && operation.accepts.length > 0 ? world.owner.session : sample.token;
  const body = sample.form ? makeForm(sample.form) : typeof sample.body === 'string' ? sample.body : JSON.stringify(sample.body);
  return (sample.at ?? world.api).fetch(sample.path, {
    method: operation.method.toUpperCase(),
    headers: { ...(typeof body === 'string' ? { 'Content-Type': 'application/json' } : {}), ...sample.headers },
    ...(body === undefined ? {} : { body }),
    ...(token ? { token } : {}),
  });
}
