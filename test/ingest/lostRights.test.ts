import { beforeAll, describe, expect, it } from 'vitest';
import { ok, type Person } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace, mintToken } from '../setup/credentials.ts';
import { holdDraft } from './hold.ts';
import { makeNewFile, useWorld } from './world.ts';

/** What somebody may do is asked again when the work that they asked for is done. */

const world = await useWorld();
let member: Person;
let workspaceId: string;
beforeAll(async () => {
  member = await world.api.signUp('仲間');
  workspaceId = await makeWorkspace(world.owner.client, '共有');
});

async function join(role: 'editor' | 'viewer' = 'editor'): Promise<string> {
  const params = { path: { workspace_id: workspaceId } };
  const body = { email: member.email, role };
  ok(await world.owner.client.POST('/api/control/workspaces/{workspace_id}/users', { params, body }));
  return makeWorkbook(world.owner.client, '共有の帳簿', workspaceId);
}

async function leave(): Promise<void> {
  const params = { path: { workspace_id: workspaceId, user_id: member.userId } };
  ok(await world.owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', { params }));
}

const listSources = async (workbookId: string) =>
  ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources', { params: { path: { workbook_id: workbookId } } })).sources;

const newestJob = async (workbookId: string) =>
  (await world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE workbook_id = $1 ORDER BY id DESC LIMIT 1', [workbookId])).rows[0]
    ?.id as string;

async function begin(workbookId: string, token: string): Promise<string> {
  await world.stopWorker();
  const response = await world.send('在庫.xlsx', await makeNewFile(), { workbookId, token, fields: { async: 'true' } });
  return ((await response.json()) as { job_id: string }).job_id;
}

const noAccess = { status: 'failed', error: 'Who asked for this work has no access to the workbook any more.' };
const revoked = { status: 'failed', error: 'Who asked for this work did so with a credential that was revoked since.' };

describe('an ingest of a member who was removed meanwhile', () => {
  it('leaves nothing when nothing has landed yet', async () => {
    const workbookId = await join();
    const jobId = await begin(workbookId, member.session);
    await leave();
    await world.startWorker();
    expect(await world.waitForJob(jobId)).toMatchObject(noAccess);
    expect(await listSources(workbookId)).toEqual([]);
    expect(await world.listNames('active', workbookId)).toEqual([]);
  });

  it('is not promoted: what had landed stays, and nothing is charged', async () => {
    const credits = await world.readCredits();
    const workbookId = await join();
    const jobId = await begin(workbookId, member.session);
    const hold = await holdDraft(world.api.sql, jobId, 'tables');
    await world.startWorker();
    await expect.poll(async () => (await world.getJob(jobId)).progress?.stage).toBe('structure');
    await leave();
    await hold.letGo();
    expect(await world.waitForJob(jobId)).toMatchObject(noAccess);
    expect(await listSources(workbookId)).toMatchObject([
      { status: 'materialized', structuring: 'raw_fallback', structuring_reason: `failed:${noAccess.error}`, artifacts: ['在庫'] },
    ]);
    expect(await world.listNames('archived', workbookId)).toEqual([]);
    expect(await world.readCredits()).toEqual(credits);
  });
});

describe('an ingest whose credential', () => {
  it('was revoked meanwhile leaves nothing', async () => {
    const workbookId = await world.newWorkbook();
    const token = await mintToken(world.owner.client, { scopes: ['workbooks:write'], resource: 'account' });
    const jobId = await begin(workbookId, token.text);
    ok(await world.owner.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: token.id } } }));
    await world.startWorker();
    expect(await world.waitForJob(jobId)).toMatchObject(revoked);
    expect(await listSources(workbookId)).toEqual([]);
  });

  it('has expired meanwhile goes on: it was good when it asked', async () => {
    const workbookId = await world.newWorkbook();
    const token = await mintToken(world.owner.client, { scopes: ['workbooks:write'], resource: 'account' });
    const jobId = await begin(workbookId, token.text);
    await world.api.sql.query("UPDATE credentials SET expires_at = now() - interval '1 second' WHERE id = $1", [token.id]);
    await world.startWorker();
    expect(await world.waitForJob(jobId)).toMatchObject({ status: 'succeeded' });
  });

  it('is a session that was ended meanwhile goes on: its user is who they were', async () => {
    const workbookId = await join();
    const { session_token: session } = ok(
      await world.api.as().POST('/api/auth/login', { body: { email: member.email, password: member.password } }),
    );
    const jobId = await begin(workbookId, session);
    expect((await world.api.as(session).POST('/api/auth/logout')).response.status).toBe(204);
    await world.startWorker();
    expect(await world.waitForJob(jobId)).toMatchObject({ status: 'succeeded' });
    await leave();
  });
});

describe('an upload slot', () => {
  /** Opens a slot with a credential and returns what sending bytes to it is answered. */
  async function openSlot(workbookId: string, token: string): Promise<() => Promise<[number, string]>> {
    const params = { path: { workbook_id: workbookId } };
    const client = world.api.as(token);
    const slot = ok(await client.POST('/api/v1/workbooks/{workbook_id}/uploads', { params, body: { filename: '在庫.xlsx' } }));
    const { pathname, search } = new URL(slot.upload_url ?? '');
    const bytes = await makeNewFile();
    return async () => {
      const answer = await world.api.fetch(`${pathname}${search}`, { method: 'PUT', body: bytes as Uint8Array<ArrayBuffer> });
      return [answer.status, ((await answer.json()) as { type?: string }).type?.replace('urn:svc:problem:', '') ?? ''];
    };
  }
  const logIn = async () =>
    ok(await world.api.as().POST('/api/auth/login', { body: { email: member.email, password: member.password } })).session_token;
  const openWithToken = async (workbookId: string) => {
    const token = await mintToken(world.owner.client, { scopes: ['workbooks:write'] });
    return { id: token.id, put: await openSlot(workbookId, token.text) };
  };

  const losses: Record<string, (workbookId: string) => Promise<() => Promise<[number, string]>>> = {
    async 'whose opener was removed from the workspace'(workbookId) {
      const put = await openSlot(workbookId, member.session);
      await leave();
      return put;
    },
    async 'whose opener may only read now'(workbookId) {
      const put = await openSlot(workbookId, member.session);
      await join('viewer');
      return put;
    },
    async 'whose opener has logged out'(workbookId) {
      const session = await logIn();
      const put = await openSlot(workbookId, session);
      expect((await world.api.as(session).POST('/api/auth/logout')).response.status).toBe(204);
      return put;
    },
    async 'of a token that was revoked'(workbookId) {
      const { id, put } = await openWithToken(workbookId);
      ok(await world.owner.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: id } } }));
      return put;
    },
    async 'of a token that has expired'(workbookId) {
      const { id, put } = await openWithToken(workbookId);
      await world.api.sql.query("UPDATE credentials SET expires_at = now() - interval '1 second' WHERE id = $1", [id]);
      return put;
    },
  };

  it.each(Object.keys(losses))('%s takes no bytes', async (loss) => {
    const workbookId = await join();
    const put = await (losses[loss] as (typeof losses)[string])(workbookId);
    expect(await put()).toEqual([403, 'outside-reach']);
    expect(await listSources(workbookId)).toEqual([]);
  });

  it('of somebody who may still write takes them', async () => {
    const workbookId = await join();
    expect(await (await openSlot(workbookId, member.session))()).toEqual([200, '']);
    expect(await (await openWithToken(workbookId)).put()).toEqual([200, '']);
  });
});

describe('an analysis and an append of a member who was removed meanwhile', () => {
  const path = (workbookId: string, step: string) => `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('在庫.xlsx')}/${step}`;
  const post = (address: string, token: string, body?: object) =>
    world.api.fetch(address, {
      method: 'POST',
      token,
      ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
  /** Asks as the member, who is removed before anybody works on it. */
  async function askAndLeave(workbookId: string, step: string, body?: object, alter?: (jobId: string) => Promise<unknown>) {
    await world.stopWorker();
    const before = await newestJob(workbookId);
    const waiting = post(path(workbookId, step), member.session, body);
    await expect.poll(() => newestJob(workbookId)).not.toBe(before);
    const jobId = await newestJob(workbookId);
    await alter?.(jobId);
    await leave();
    await world.startWorker();
    expect(await world.waitForJob(jobId)).toMatchObject(noAccess);
    expect((await waiting).status).toBe(403);
  }
  async function stage(workbookId: string) {
    await world.upload('在庫.xlsx', await makeNewFile(), { workbookId, fields: { mode: 'staged' } });
  }
  async function stageForAppend(): Promise<{ workbookId: string; body: object }> {
    const workbookId = await join();
    await stage(workbookId);
    expect((await post(path(workbookId, 'analyze'), world.owner.session)).status).toBe(200);
    const params = { path: { workbook_id: workbookId } };
    const columns = [
      { name: '品番', type: 'VARCHAR' },
      { name: '品名', type: 'VARCHAR' },
      { name: '数量', type: 'BIGINT' },
    ];
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables', { params, body: { name: '台帳', columns } }));
    return { workbookId, body: { target: { mode: 'append', table: '台帳', expected_version: 1 } } };
  }

  it('leave the source as it was', async () => {
    const workbookId = await join();
    await stage(workbookId);
    const before = await listSources(workbookId);
    await askAndLeave(workbookId, 'analyze');
    expect(await listSources(workbookId)).toEqual(before);
  });

  it('leave the table as it was', async () => {
    const { workbookId, body } = await stageForAppend();
    const before = await listSources(workbookId);
    await askAndLeave(workbookId, 'materialize', body);
    expect(await world.readRows('台帳', workbookId)).toEqual([]);
    expect(await listSources(workbookId)).toEqual(before);
  });

  it('so does a job that was registered with what its asker might do then', async () => {
    const { workbookId, body } = await stageForAppend();
    const principal = { kind: 'session', userId: member.userId, accountIds: [], scopes: ['workbooks:write'], reach: { kind: 'account' } };
    await askAndLeave(workbookId, 'materialize', body, (jobId) =>
      world.api.sql.query("UPDATE jobs SET input = jsonb_set(input, '{append,principal}', $2::jsonb) WHERE id = $1", [
        jobId,
        JSON.stringify(principal),
      ]),
    );
    expect(await world.readRows('台帳', workbookId)).toEqual([]);
  });
});
