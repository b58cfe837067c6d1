import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopes } from '../../core/access/scopes.ts';
import { makeSample, sendSample } from '../contract/samples.ts';
import { allScopesBut, makeWorld, startWorkingApi, type World } from '../contract/world.ts';
import { ok, refused, type TestApi } from '../setup/api.ts';
import { makeWorkbook, mintKey, mintToken, type Scope } from '../setup/credentials.ts';

/** Rule 4 of "Authentication" in the specification. */

let api: TestApi;
let world: World;

beforeAll(async () => {
  api = await startWorkingApi();
  world = await makeWorld(api);
});
afterAll(() => api.stop());

describe('rule 4: scopes are independent, and write implies read', () => {
  const scoped = () => api.contract.operations.filter((operation) => operation.scopes.length > 0);

  it('every operation is refused without its scope, with all the others in hand, and needs no scope but its own', async () => {
    const others = new Map<string, string>();
    for (const operation of scoped()) {
      const needed = operation.scopes.join(' ');
      if (!others.has(needed)) others.set(needed, (await mintKey(world.owner.client, { scopes: allScopesBut(...operation.scopes) })).text);
      const mint = (account?: string) =>
        mintKey(world.owner.client, { scopes: operation.scopes, ...(account ? { account_id: account } : {}) });
      // A webhook that the owner's session made hears of more than a key may.
      const maker = /webhook|deliver/i.test(operation.id) ? (await mint()).text : null;
      const sample = await makeSample(maker ? { ...world, owner: { ...world.owner, client: api.as(maker) } } : world, operation);
      const refusal = await sendSample(world, operation, { ...sample, token: others.get(needed) });
      expect([operation.id, refusal.status, await refusal.json()]).toEqual([
        operation.id,
        403,
        expect.objectContaining({
          type: 'urn:svc:problem:missing-scope',
          missing_scope: needed,
          detail: expect.stringContaining(operation.scopes.join(', ')),
        }),
      ]);

      const { account_id: account } = (typeof sample.body === 'object' ? sample.body : {}) as { account_id?: string };
      const { text } = await mint(account);
      // A key mints nothing beyond itself (rule 9).
      if (operation.id === 'createKey') sample.body = { scopes: operation.scopes };
      if (operation.id === 'createToken') sample.body = { name: 'sample', scopes: operation.scopes };
      // The branch and the report that the samples keep need another scope.
      if (operation.id === 'exportTables') sample.body = { ...(sample.body as object), record_branch: false };
      if (operation.id === 'reviewWorkbook') sample.body = { ...(sample.body as object), save: false };
      const answer = await sendSample(world, operation, { ...sample, token: text });
      expect([operation.id, answer.status < 300]).toEqual([operation.id, true]);
    }
    expect(others.size).toBeGreaterThan(8);
  }, 480_000);

  it.each([
    ['workbooks:write', 'GET', 200],
    ['workbooks:read', 'GET', 200],
    ['workbooks:read', 'PATCH', 403],
    ['workbooks:delete', 'GET', 403],
    ['workbooks:delete', 'PATCH', 403],
    ['workbooks:write', 'DELETE', 403],
    ['workbooks:delete', 'DELETE', 204],
  ] as const)('%s and %s of a workbook: %d', async (scope, method, status) => {
    const workbook = await makeWorkbook(world.owner.client, 'Scoped');
    const { text } = await mintToken(world.owner.client, { scopes: [scope] });
    const answer = await api.fetch(`/api/v1/workbooks/${workbook}`, {
      method,
      token: text,
      ...(method === 'PATCH' ? { body: '{"title":"Changed"}', headers: { 'Content-Type': 'application/json' } } : {}),
    });
    expect(answer.status).toBe(status);
  });

  it.each([
    ['workspaces:configure', 'GET', '/api/control/workspaces'],
    ['workspaces:create', 'GET', '/api/control/workspaces'],
    ['workspaces:delete', 'GET', '/api/control/workspaces'],
    ['keys:mint', 'GET', '/api/control/account/keys'],
    ['keys:revoke', 'GET', '/api/control/account/keys'],
    ['billing:manage', 'GET', '/api/control/account'],
  ] as const)('%s does not imply reading: %s %s', async (scope, method, path) => {
    const { text } = await mintKey(world.owner.client, { scopes: [scope] });
    expect((await api.fetch(path, { method, token: text })).status).toBe(403);
  });

  it('says by contract what the destructive and the costly ones need', () => {
    const needed = (id: string) => api.contract.operations.find((operation) => operation.id === id)?.scopes;
    for (const id of ['deleteWorkbook', 'restoreSnapshot', 'revertVersion']) expect([id, needed(id)]).toEqual([id, ['workbooks:delete']]);
    expect(needed('createWorkspace')).toEqual(['workspaces:create']);
    expect(needed('createKey')).toEqual(['keys:mint']);
    for (const id of ['startCheckout', 'enablePayg', 'openBillingPortal', 'reuseCard', 'buyCredits', 'configureAutoTopup'])
      expect([id, needed(id)]).toEqual([id, ['billing:manage']]);
    for (const id of ['listCloudFiles', 'importCloudFile', 'syncFileLink'])
      expect([id, needed(id)]).toEqual([id, expect.arrayContaining(['cloud-files:read'])]);
  });

  it('gives cloud-files:read to a log-in, and to a token only when asked', async () => {
    expect(ok(await world.owner.client.GET('/api/v1/me')).scopes).toContain('cloud-files:read');
    const plain = await mintToken(world.owner.client);
    expect(ok(await api.as(plain.text).GET('/api/v1/me')).scopes).not.toContain('cloud-files:read');
    const asked = await mintToken(world.owner.client, { scopes: ['cloud-files:read'] });
    expect(ok(await api.as(asked.text).GET('/api/v1/me')).scopes).toEqual(['cloud-files:read']);
  });

  it('knows no scope beyond the fourteen', async () => {
    const body = { name: 'x', scopes: ['workbooks:everything' as Scope] };
    refused(await world.owner.client.POST('/api/v1/me/tokens', { body }), 422, 'validation-failed');
    expect(scopes).toHaveLength(14);
  });
});
