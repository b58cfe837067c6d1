import { utimes, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { resumeDeletion } from '../../activities/accounts/resumeDeletion.ts';
import { purchaseCredits } from '../../activities/credits/purchaseCredits.ts';
import { sweepJobs } from '../../activities/jobs/sweepJobs.ts';
import { collectBlobs } from '../../activities/maintenance/collectGarbage.ts';
import { startWorker } from '../../activities/worker.ts';
import type { Service } from '../../store/lifecycle.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import { commit } from '../../store/pg/commit.ts';
import { makeForm } from '../contract/forms.ts';
import { holdDraft } from '../ingest/hold.ts';
import { ok, type Person, refused, startTestApi } from '../setup/api.ts';
import { makeChart } from '../setup/charts.ts';
import { makeWorkbook, mintToken } from '../setup/credentials.ts';
import { setPolicy, tagColumn } from '../setup/governance.ts';
import { listCatalog, nobodysTables } from '../setup/rowsOfAccount.ts';
import { editRows } from '../setup/tables.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { openDeletions, type Place, quiet } from './deletions.ts';
import { keepHistory, replayHistory } from './replay.ts';

const api = await startTestApi({ SVC_RATE_LIMITS: 'off', SVC_CREDITS: 'metered' });
const own = api.running.services;
const receiver = await startReceiver();
let worker: Service | null = null;
afterAll(async () => {
  await worker?.stop();
  await receiver.stop();
  await api.stop();
});
const work = async () => {
  worker ??= await startWorker(api.config);
};
const rest = async () => {
  await worker?.stop();
  worker = null;
};

const { makePlace, askFor, readJob, waitFor, findTraces, listIds, listBlobs, fill, expectGone } = openDeletions(api);
const base = '/api/v1/workbooks/{workbook_id}' as const;
async function remove(owner: Person, place: Place) {
  const { job_id } = ok(await askFor(owner, place));
  return waitFor(owner, job_id);
}

/** All rows of an account, as they are. */
async function copyRows(accountId: string): Promise<Record<string, string[]>> {
  const tables = [...(await listCatalog(api.sql)).keys()].filter((table) => !nobodysTables.has(table));
  return inAccount(accountId, async () => {
    const copied: Record<string, string[]> = {};
    for (const table of tables) {
      const { rows } = await own.db.pool.query<{ text: string }>(`SELECT t::text AS text FROM ${table} t ORDER BY 1`);
      copied[table] = rows.map(({ text }) => text);
    }
    return copied;
  });
}

describe('the request', () => {
  it('is refused with everything that stands against it, and changes nothing', async () => {
    const owner = await api.signUp();
    const place = await makePlace(owner, '取引先ポータル');
    const { accountId } = place;
    const account_id = ok(await owner.client.GET('/api/v1/me')).account_id;
    await api.sql.query("UPDATE accounts SET plan = 'pro', plan_status = 'active' WHERE id = ANY ($1)", [[account_id, accountId]]);
    await api.sql.query('INSERT INTO billing_profiles (account_id, arrears, updated_at) VALUES ($1, 100000, now())', [accountId]);
    const problem = refused(await askFor(owner, { accountId: account_id, name: 'x' }), 409, 'default-account');
    expect((problem.errors as { type: string }[]).map(({ type }) => type)).toEqual([
      'default-account',
      'subscription-active',
      'confirm-mismatch',
    ]);
    const { errors } = refused(await askFor(owner, { accountId, name: '取引先' }), 409, 'subscription-active');
    expect((errors as { type: string }[]).map(({ type }) => type)).toEqual([
      'subscription-active',
      'overage-unsettled',
      'confirm-mismatch',
    ]);
    // A key is told nothing else, and somebody else not even that there is such an account.
    expect(refused(await askFor({ ...owner, client: place.client }, place), 403, 'not-owner').errors).toBeUndefined();
    const stranger = await api.signUp();
    refused(await askFor(stranger, place), 404, 'not-found');
    ok(
      await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
        params: { path: { workspace_id: place.workspaceId } },
        body: { email: stranger.email, role: 'editor' },
      }),
    );
    refused(await askFor(stranger, place), 403, 'not-owner');
    expect(ok(await place.client.GET('/api/v1/me')).account_id).toBe(accountId);
  });

  it('ends all use of the account at once, before any worker has seen it', async () => {
    const owner = await api.signUp();
    const place = await makePlace(owner, 'Portal');
    const member = await api.signUp();
    ok(
      await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
        params: { path: { workspace_id: place.workspaceId } },
        body: { email: member.email, role: 'editor' },
      }),
    );
    const slot = ok(
      await place.client.POST(`${base}/uploads`, { params: { path: { workbook_id: place.workbookId } }, body: { filename: 'a.csv' } }),
    );
    const { job_id } = ok(await askFor(owner, place, 'once'));
    const path = { workbook_id: place.workbookId };
    refused(await place.client.GET('/api/v1/me'), 401, 'unauthenticated');
    for (const { client } of [owner, member]) {
      refused(await client.GET(base, { params: { path } }), 404, 'not-found');
      refused(await client.GET(`${base}/tables`, { params: { path } }), 404, 'not-found');
      refused(
        await client.GET('/api/control/workspaces/{workspace_id}', { params: { path: { workspace_id: place.workspaceId } } }),
        404,
        'not-found',
      );
    }
    refused(await owner.client.GET('/api/control/account', { params: { query: { account_id: place.accountId } } }), 404, 'not-found');
    expect(ok(await owner.client.GET('/api/control/accounts')).accounts.map(({ kind }) => kind)).toEqual(['default']);
    expect(ok(await member.client.GET('/api/v1/workbooks')).workbooks).toEqual([]);
    const { pathname, search } = new URL(slot.upload_url ?? '', api.url);
    expect((await api.fetch(`${pathname}${search}`, { method: 'PUT', body: 'a\n1' })).status).toBe(403);
    // The same request again is the same deletion; another one finds no account.
    expect(ok(await askFor(owner, place, 'once'))).toEqual({ job_id });
    refused(await askFor(owner, place), 404, 'not-found');
    expect(await readJob(owner, job_id)).toMatchObject({ kind: 'delete_account', status: 'pending', workbook_id: null });
    refused(await member.client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id } } }), 404, 'not-found');
  });
});

/** What people do in an account: every kind of thing that a workbook has. */
async function useEverything(owner: Person, { accountId, workbookId, workspaceId, key, client }: Place): Promise<void> {
  const params = { path: { workbook_id: workbookId } };
  await api.fetch(`/api/v1/workbooks/${workbookId}/sources`, {
    method: 'POST',
    token: key,
    body: makeForm({ fields: {}, files: [{ name: '経費.csv', content: '氏名,交通費\n相川,12400\n井上,8600\n宇田,15300\n' }] }),
  });
  ok(
    await client.POST(`${base}/transforms`, {
      params,
      body: {
        name: 'double',
        language: 'sql',
        materialize: 'table',
        template: 'SELECT a, a * 2 AS b FROM {{ t }}',
        args: { t: '表' },
        key: ['a'],
      },
    }),
  );
  await editRows(client, workbookId, 'double', [{ __svc_row_id: 1, b: 7 }]);
  await editRows(client, workbookId, '表', [{ __svc_row_id: 1, a: 9 }]);
  ok(await client.POST(`${base}/versions`, { params, body: { label: 'first' } }));
  await makeChart(api, key, { workbookId, table: '表' });
  await tagColumn(client, workbookId, '表', 'a', 'secret');
  await setPolicy(client, workbookId, 'secret', 'mask', 'viewer');
  ok(await client.POST(`${base}/query`, { params, body: { sql: 'SELECT * FROM 表' } }));
  ok(await client.POST('/api/v1/me/webhooks', { body: { url: receiver.url } }));
  await mintToken(client, { resource: `workspace:${workspaceId}` });
  ok(await owner.client.POST('/api/control/account/billing/topup', { body: { account_id: accountId, pack: 'small' } }));
  const actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };
  await inAccount(accountId, () => commit(own, actor, (tx) => purchaseCredits(tx, { accountId, ref: `p_${accountId}`, amount: 123 })));
}

describe('the cascade', () => {
  it('is begun again when somebody stops its workflow', async () => {
    const owner = await api.signUp();
    const place = await makePlace(owner, 'Portal');
    const ids = await listIds(place.accountId);
    const { job_id } = ok(await askFor(owner, place));
    refused(await owner.client.POST('/api/v1/jobs/{job_id}/cancel', { params: { path: { job_id } } }), 409, 'in-use');
    const { client: temporal } = await own.temporal();
    await temporal.workflow.getHandle(`delete_account-${place.accountId}-${job_id}`).terminate();
    await api.sql.query("UPDATE jobs SET admitted_at = now() - interval '11 minutes', status = 'running' WHERE id = $1", [job_id]);
    await sweepJobs(api.services, quiet);
    await sweepJobs(api.services, quiet);
    await work();
    expect(await waitFor(owner, job_id)).toMatchObject({ status: 'succeeded' });
    await expectGone(place.accountId, ids);
    // One that has ended stays so.
    await resumeDeletion(api.services, job_id);
    expect(await readJob(owner, job_id)).toMatchObject({ status: 'succeeded' });
  });

  it('ends what is under way: a file that is read, an edit that is made, work that waits', async () => {
    await rest();
    const owner = await api.signUp();
    const place = await makePlace(owner, 'Portal');
    const send = async (name: string) => {
      const form = makeForm({ fields: { async: 'true' }, files: [{ name, content: '氏名,交通費\n相川,12400\n井上,8600\n' }] });
      const sent = await api.fetch(`/api/v1/workbooks/${place.workbookId}/sources`, { method: 'POST', token: place.key, body: form });
      return ((await sent.json()) as { job_id: string }).job_id;
    };
    const reading = await send('held.csv');
    for (let i = 0; i < 9; i += 1) await send(`${i}.csv`);
    const hold = await holdDraft(api.sql, reading, 'raw');
    await work();
    await hold.reached();
    const ids = await listIds(place.accountId);
    const editing = (async () => {
      for (let a = 0; ; a += 1) {
        const { response } = await place.client.POST(`${base}/tables/{name}/rows`, {
          params: { path: { workbook_id: place.workbookId, name: '表' } },
          body: { rows: [{ a }], expected_version: null },
        });
        if (!response.ok) return response.status;
      }
    })();
    const { job_id } = ok(await askFor(owner, place));
    // The key is not known any more; a request that was let in before finds no workbook.
    expect([401, 404]).toContain(await editing);
    await expect.poll(async () => (await readJob(owner, job_id)).progress?.stage).toBe('workbooks');
    await hold.letGo();
    expect(await waitFor(owner, job_id)).toMatchObject({ status: 'succeeded' });
    await expectGone(place.accountId, ids);
    const { client: temporal } = await own.temporal();
    const { rows } = await api.sql.query('SELECT 1 FROM jobs WHERE account_id = $1', [place.accountId]);
    expect(rows).toEqual([]);
    for await (const { status } of temporal.workflow.list({ query: `SvcAccount = '${place.accountId}'` }))
      expect(status.name).not.toBe('RUNNING');
  }, 240_000);

  it('leaves a file that came too late to the collection of garbage', async () => {
    const owner = await api.signUp();
    const place = await makePlace(owner, 'Portal');
    await remove(owner, place);
    const draft = await own.blobs.draft();
    await writeFile(draft, 'late');
    const { key } = await own.blobs.put(`${place.accountId}/${place.workbookId}/sources`, draft, 'csv');
    await collectBlobs(api.services, '', quiet);
    expect(await listBlobs(place.accountId)).toEqual([key]);
    const then = new Date(Date.now() - 48 * 3_600_000);
    await utimes((await own.blobs.open([key])).pathOf(key), then, then);
    await collectBlobs(api.services, '', quiet);
    expect(await listBlobs(place.accountId)).toEqual([]);
  });

  it('leaves nothing of the account anywhere, and everything of others', async () => {
    const [owner, other] = [await api.signUp(), await api.signUp()];
    const [place, neighbour, foreign] = [
      await makePlace(owner, 'Portal'),
      await makePlace(owner, 'Portal'),
      await makePlace(other, 'Foreign'),
    ];
    // The owner's own webhook hears of all accounts.
    ok(await owner.client.POST('/api/v1/me/webhooks', { body: { url: receiver.url } }));
    for (const each of [place, neighbour, foreign]) await useEverything(each === foreign ? other : owner, each);
    const gone = await makeWorkbook(owner.client, 'Deleted before', place.workspaceId);
    ok(await owner.client.DELETE(base, { params: { path: { workbook_id: gone } } }));
    const { accountId } = place;
    await expect.poll(async () => Object.keys(await findTraces([place.workbookId])).includes('deliveries')).toBe(true);
    await expect.poll(async () => (await api.sql.query("SELECT 1 FROM deliveries WHERE status = 'pending'")).rowCount).toBe(0);
    // It writes down what was counted first.
    ok(await owner.client.GET('/api/control/account/usage/series'));
    await rest();
    for (const each of [place, foreign]) await fill(each.accountId);
    const catalog = [...(await listCatalog(api.sql)).keys()].filter((table) => !nobodysTables.has(table));
    const ids = await listIds(accountId);
    const traces = await findTraces(ids);
    // A table that this test does not fill would not be looked at.
    expect(catalog.filter((table) => traces[table] === undefined)).toEqual([]);
    expect((await listBlobs(accountId)).length).toBeGreaterThan(2);
    const before = [await copyRows(neighbour.accountId), await copyRows(foreign.accountId)];
    const blobs = [await listBlobs(neighbour.accountId), await listBlobs(foreign.accountId)];

    const { job_id } = ok(await askFor(owner, place, 'gone'));
    await work();
    expect(await waitFor(owner, job_id)).toMatchObject({ status: 'succeeded', result: {} });
    await rest();
    expect(ok(await askFor(owner, place, 'gone'))).toEqual({ job_id });
    await expectGone(accountId, [...ids, `_of_${accountId}`]);
    expect([await copyRows(neighbour.accountId), await copyRows(foreign.accountId)]).toEqual(before);
    expect([await listBlobs(neighbour.accountId), await listBlobs(foreign.accountId)]).toEqual(blobs);

    const { client: temporal } = await own.temporal();
    for await (const { workflowId, typedSearchAttributes, status } of temporal.workflow.list({ query: `SvcAccount = '${accountId}'` }))
      expect([workflowId, status.name === 'RUNNING', typedSearchAttributes === null]).toEqual([workflowId, false, false]);
    const { rows } = await api.sql.query<{ action: string; target: string; detail: object; actor: string }>(
      "SELECT action, target, detail, user_id AS actor FROM audit_entries WHERE target = $1 AND action LIKE 'account.%' ORDER BY seq",
      [accountId],
    );
    expect(rows).toEqual([
      { action: 'account.closed', target: accountId, detail: { name: 'Portal' }, actor: owner.userId },
      { action: 'account.deleted', target: accountId, detail: { credits_forfeited: 323 }, actor: owner.userId },
    ]);
    const handle = temporal.workflow.getHandle(`delete_account-${accountId}-${job_id}`);
    expect(await handle.result()).toBe('deleted');
    await keepHistory('deleteAccount', handle);
    await replayHistory('deleteAccount');
  }, 240_000);
});
