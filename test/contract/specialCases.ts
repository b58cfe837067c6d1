import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../api/http/contract.ts';
import { scopes } from '../../core/access/scopes.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { ok } from '../setup/api.ts';
import { makeAccount, makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { accountCases } from './accountCases.ts';
import { billingCases } from './billingCases.ts';
import { driveCases } from './driveCases.ts';
import { type Case, sampleToRefuse } from './genericCases.ts';
import { governedCases } from './governedCases.ts';
import { linkCases } from './linkCases.ts';
import { mcpCases } from './mcpCases.ts';
import type { Sample } from './sample.ts';
import { makeSample, sendSample } from './samples.ts';
import { sourceCases } from './sourceCases.ts';
import { tableCases } from './tableCases.ts';
import { transformCases, viewCases } from './transformCases.ts';
import { webhookCases } from './webhookCases.ts';
import { allScopesBut, makeJob, unknownId, type World } from './world.ts';

const send =
  (make: (world: World) => Promise<Partial<Sample>> | Partial<Sample>): Case =>
  async (world, operation) => {
    const sample = await sampleToRefuse(world, operation);
    return sendSample(world, operation, { ...sample, ...(await make(world)) });
  };

const unknownAccount = unknownId('acc');

/** Cases of one operation: where the generic one does not fit, or there is none. */
export const specialCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  ...tableCases,
  ...sourceCases,
  ...linkCases,
  ...driveCases,
  ...transformCases,
  ...mcpCases,
  ...governedCases,
  ...webhookCases,
  ...accountCases,
  ...billingCases,
  reviewWorkbook: { ...sourceCases.reviewWorkbook, ...governedCases.reviewWorkbook },
  deleteTable: { ...tableCases.deleteTable, ...transformCases.deleteTable },
  ...Object.fromEntries(
    Object.entries(viewCases).map(([operation, broken]) => [
      operation,
      { ...tableCases[operation as OperationId], 'query-failed': broken },
    ]),
  ),
  signUp: {
    'idempotency-mismatch': async (world, operation) => {
      const sample = await makeSample(world, operation);
      const headers = { 'Idempotency-Key': randomUUID() };
      await sendSample(world, operation, { ...sample, headers });
      return sendSample(world, operation, { ...sample, headers, body: { ...(sample.body as object), name: 'Somebody else' } });
    },
    'name-taken': send(({ owner }) => ({ body: { email: owner.email.toUpperCase(), password: 'long enough to pass' } })),
  },
  getMetrics: {
    unauthenticated: send(() => ({ headers: { 'X-Forwarded-For': '192.0.2.1' } })),
  },
  logIn: {
    'idempotency-mismatch': async (world, operation) => {
      const { email, password } = world.owner;
      const headers = { 'Idempotency-Key': randomUUID() };
      const body = { email, password };
      await sendSample(world, operation, { path: '/api/auth/login', headers, body, token: null });
      // Who asks is the same, what is sent is not.
      return sendSample(world, operation, {
        path: '/api/auth/login',
        headers,
        body: { password, email: email.toUpperCase() },
        token: null,
      });
    },
    unauthenticated: send(({ stranger }) => ({ body: { email: stranger.email, password: 'not the right one' } })),
  },
  openConsoleSession: {
    unauthenticated: send(({ stranger }) => ({ body: { email: stranger.email, password: 'not the right one' } })),
  },
  beginOidcLogIn: {
    unauthenticated: send(() => ({ headers: {} })),
    'not-configured': send(() => ({ at: undefined })),
  },
  finishOidcLogIn: {
    unauthenticated: send(() => ({ body: { code: 'of nobody', state: 'unknown' } })),
    'not-configured': send(() => ({ at: undefined })),
  },
  createToken: {
    'missing-scope': async (world, operation) => {
      const weak = await mintToken(world.owner.client, { scopes: ['workbooks:read'] });
      return sendSample(world, operation, {
        path: '/api/v1/me/tokens',
        body: { name: 'stronger', scopes: ['workbooks:write'] },
        token: weak.text,
      });
    },
    'outside-reach': send(({ pinnedKey, team }) => ({ token: pinnedKey, body: { name: 'further', resource: `workspace:${team}` } })),
    'not-found': send(() => ({ body: { name: 'for nobody', account_id: unknownAccount } })),
  },
  revokeToken: {
    'missing-scope': send(async ({ owner }) => ({ token: (await mintKey(owner.client, { scopes: allScopesBut('keys:revoke') })).text })),
  },
  getAccount: { 'not-found': send(() => ({ path: `/api/control/account?account_id=${unknownAccount}` })) },
  createAccount: {
    'not-owner': send(async ({ owner }) => ({ token: (await mintKey(owner.client, { scopes: [...scopes] })).text })),
  },
  listKeys: { 'not-found': send(() => ({ path: `/api/control/account/keys?account_id=${unknownAccount}` })) },
  createKey: {
    'outside-reach': send(({ pinnedKey, team }) => ({ token: pinnedKey, body: { scopes: ['workbooks:read'], workspace_id: team } })),
    'not-found': send(() => ({ body: { scopes: ['workbooks:read'], account_id: unknownAccount } })),
  },
  listWorkspaces: { 'not-found': send(() => ({ path: `/api/control/workspaces?account_id=${unknownAccount}` })) },
  createWorkspace: { 'not-found': send(() => ({ body: { name: 'Nowhere', account_id: unknownAccount } })) },
  deleteWorkspace: {
    'insufficient-role': send(({ viewer: { session }, team }) => ({ token: session, path: `/api/control/workspaces/${team}` })),
    'in-use': send(({ team }) => ({ path: `/api/control/workspaces/${team}` })),
  },
  addWorkspaceUser: { 'in-use': send(({ owner }) => ({ body: { email: owner.email, role: 'viewer' } })) },
  removeWorkspaceUser: {
    'in-use': send(({ owner, team }) => ({ path: `/api/control/workspaces/${team}/users/${owner.userId}` })),
  },
  listWorkbooks: { 'outside-reach': send(({ pinnedKey, team }) => ({ token: pinnedKey, path: `/api/v1/workbooks?workspace_id=${team}` })) },
  listMyWorkbooks: {
    'outside-reach': send(({ pinnedKey, team }) => ({ token: pinnedKey, path: `/api/v1/me/workbooks?workspace_id=${team}` })),
  },
  createWorkbook: {
    'outside-reach': send(({ pinnedKey, team }) => ({ token: pinnedKey, body: { title: 'There', workspace_id: team } })),
    'insufficient-role': send(({ viewer, team }) => ({ token: viewer.session, body: { title: 'Mine', workspace_id: team } })),
    'no-workspace': send(async ({ owner }) => {
      const account = await makeAccount(owner.client, 'Empty');
      return { token: (await mintToken(owner.client, { account_id: account, scopes: ['workbooks:write'] })).text };
    }),
  },
  updateWorkbook: {
    'not-owner': send(async (world) => ({ ...(await asEditor(world)), body: { visibility: 'private' } })),
  },
  deleteWorkbook: { 'not-owner': send((world) => asEditor(world)) },
  cancelJob: {
    'in-use': send(async ({ api, owner, accountId }) => {
      const job = await makeJob(api, { accountId, userId: owner.userId, workbookId: null, kind: 'delete_account' });
      return { path: `/api/v1/jobs/${job}/cancel` };
    }),
  },
  getGuidePage: { 'not-found': send(() => ({ path: '/guide/nothing' })) },
  getConsoleAsset: { 'not-found': send(() => ({ path: '/console/console.js' })) },
  getReferenceAsset: { 'not-found': send(() => ({ path: '/docs/package.json' })) },
};

/** A workbook of the owner in a workspace where somebody else may edit. */
async function asEditor({ owner, stranger }: World): Promise<Partial<Sample>> {
  const workspace = await makeWorkspace(owner.client, 'Shared');
  ok(
    await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
      params: { path: { workspace_id: workspace } },
      body: { email: stranger.email, role: 'editor' },
    }),
  );
  return { path: `/api/v1/workbooks/${await makeWorkbook(owner.client, 'Not yours', workspace)}`, token: stranger.session };
}
