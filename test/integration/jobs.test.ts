import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updateJob } from '../../store/pg/jobs.ts';
import { searchAttributes } from '../../store/temporal/searchAttributes.ts';
import { type JobSeed, makeJob, unknownId } from '../contract/world.ts';
import { type ApiClient, ok, type Person, refused, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace, mintToken } from '../setup/credentials.ts';

/** Jobs: who sees them, who stops them. Their rows are written as the starter of a workflow writes them. */

let api: TestApi;
let owner: Person;
let viewer: Person;
let stranger: Person;
let accountId: string;
let team: string;
let other: string;
let inTeam: string;
let inOther: string;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  [owner, viewer, stranger] = await Promise.all([api.signUp('Owner'), api.signUp('Viewer'), api.signUp('Stranger')]);
  accountId = ok(await owner.client.GET('/api/v1/me')).account_id;
  [team, other] = [await makeWorkspace(owner.client, 'Team'), await makeWorkspace(owner.client, 'Other')];
  [inTeam, inOther] = [await makeWorkbook(owner.client, 'In team', team), await makeWorkbook(owner.client, 'In other', other)];
  const params = { path: { workspace_id: team } };
  ok(await owner.client.POST('/api/control/workspaces/{workspace_id}/users', { params, body: { email: viewer.email, role: 'viewer' } }));
});
afterAll(() => api.stop());

const recomputed = { recomputed: [], skipped_reports: [], failed: [], conflicts: [] };
const seedJob = (seed: Partial<JobSeed> = {}) => makeJob(api, { accountId, userId: owner.userId, workbookId: inTeam, ...seed });
const get = (client: ApiClient, id: string) => client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: id } } });
const cancel = (client: ApiClient, id: string) => client.POST('/api/v1/jobs/{job_id}/cancel', { params: { path: { job_id: id } } });
const listed = async (client: ApiClient) =>
  ok(await client.GET('/api/v1/jobs', { params: { query: { limit: 1000 } } })).jobs.map(({ job_id }) => job_id);
const auditOf = async (job: string) =>
  (await api.sql.query<{ action: string }>('SELECT action FROM audit_entries WHERE target = $1', [job])).rows.map(({ action }) => action);

describe('getJob and listJobs: a job', () => {
  it('is shown with its state, its progress and its outcome', async () => {
    const running = await seedJob({ kind: 'ingest' });
    expect(ok(await get(owner.client, running))).toMatchObject({
      job_id: running,
      kind: 'ingest',
      status: 'running',
      workbook_id: inTeam,
      finished_at: null,
    });
    const done = await seedJob({ status: 'succeeded', result: recomputed, finishedAt: new Date() });
    expect(ok(await get(owner.client, done))).toMatchObject({
      status: 'succeeded',
      result: recomputed,
      finished_at: expect.any(String),
    });
    await updateJob(api.services.db.orm, running, { status: 'failed', error: 'the file has no sheets', finishedAt: new Date() });
    expect(ok(await get(owner.client, running))).toMatchObject({ status: 'failed', error: 'the file has no sheets' });
    // What has ended stays as it ended.
    await updateJob(api.services.db.orm, running, { status: 'running' });
    expect(ok(await get(owner.client, running)).status).toBe('failed');
  });

  it('is seen by those who see its workbook, and within reach', async () => {
    const [team1, other1, account] = [
      await seedJob(),
      await seedJob({ workbookId: inOther }),
      await seedJob({ workbookId: null, kind: 'delete_account' }),
    ];
    const token = async (resource: string) => api.as((await mintToken(owner.client, { scopes: ['workbooks:write'], resource })).text);
    const cases: [string, ApiClient, Record<string, number>][] = [
      ['owner', owner.client, { team1: 200, other1: 200, account: 200 }],
      ['account token', await token('account'), { team1: 200, other1: 200, account: 200 }],
      ['workspace token', await token(`workspace:${team}`), { team1: 200, other1: 403, account: 403 }],
      ['workbook token', await token(`workbook:${inTeam}`), { team1: 200, other1: 403, account: 403 }],
      ['viewer', viewer.client, { team1: 200, other1: 404, account: 404 }],
      ['stranger', stranger.client, { team1: 404, other1: 404, account: 404 }],
    ];
    for (const [who, client, expected] of cases) {
      const got = {
        team1: (await get(client, team1)).response.status,
        other1: (await get(client, other1)).response.status,
        account: (await get(client, account)).response.status,
      };
      expect([who, got]).toEqual([who, expected]);
      const list = await listed(client);
      const inList = Object.fromEntries(
        Object.entries({ team1, other1, account }).map(([name, id]) => [name, list.includes(id) ? 200 : expected[name]]),
      );
      expect([who, inList]).toEqual([who, expected]);
      for (const [name, id] of Object.entries({ team1, other1, account }))
        expect([who, name, list.includes(id)]).toEqual([who, name, expected[name] === 200]);
    }
  });

  it('of a private or deleted workbook is seen as the workbook is', async () => {
    const hidden = ok(
      await owner.client.POST('/api/v1/workbooks', { body: { title: 'Hidden', workspace_id: team, visibility: 'private' } }),
    ).id;
    const job = await seedJob({ workbookId: hidden });
    refused(await get(viewer.client, job), 404, 'not-found');
    expect(await listed(viewer.client)).not.toContain(job);
    expect((await get(owner.client, job)).response.status).toBe(200);
    ok(await owner.client.DELETE('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: hidden } } }));
    refused(await get(owner.client, job), 404, 'not-found');
  });
});

describe('cancelJob', () => {
  it('asks the workflow to stop and answers when it has', async () => {
    const workflowId = `test-cancel-${unknownId('job')}-${Date.now()}`;
    const job = await seedJob({ workflowId });
    const { client } = await api.services.temporal();
    // Nobody works on this queue: the workflow runs until it is told to stop.
    const handle = await client.workflow.start('expireThings', {
      workflowId,
      taskQueue: `nobody-${Date.now()}`,
      typedSearchAttributes: searchAttributes({ kind: 'maintenance' }),
    });
    const answer = cancel(owner.client, job);
    await expect
      .poll(async () => (await handle.fetchHistory()).events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes))
      .toBe(true);
    // As the workflow does at its end.
    await updateJob(api.services.db.orm, job, { status: 'failed', error: 'cancelled', finishedAt: new Date() });
    expect(ok(await answer)).toMatchObject({ status: 'failed', error: 'cancelled' });
    expect(await auditOf(job)).toEqual(['job.cancelled']);
    await handle.terminate();
  });

  it('ends a job whose workflow is gone', async () => {
    const job = await seedJob({ workflowId: 'never-was' });
    expect(ok(await cancel(owner.client, job))).toMatchObject({ status: 'failed', error: 'cancelled', finished_at: expect.any(String) });
    expect(ok(await get(owner.client, job))).toMatchObject({ status: 'failed', error: 'cancelled' });
  });

  it('leaves a finished job as it is, and writes nothing down', async () => {
    const job = await seedJob({ status: 'succeeded', result: recomputed, finishedAt: new Date() });
    expect(ok(await cancel(owner.client, job))).toMatchObject({ status: 'succeeded', result: recomputed });
    expect(await auditOf(job)).toEqual([]);
  });

  it('needs the role, the scope and the reach; the deletion of an account goes on', async () => {
    const job = await seedJob();
    refused(await cancel(viewer.client, job), 403, 'insufficient-role');
    refused(await cancel(stranger.client, job), 404, 'not-found');
    const token = async (scopes: ('workbooks:read' | 'workbooks:write')[], resource = 'account') =>
      api.as((await mintToken(owner.client, { scopes, resource })).text);
    refused(await cancel(await token(['workbooks:read']), job), 403, 'missing-scope');
    refused(await cancel(await token(['workbooks:write'], `workspace:${other}`), job), 403, 'outside-reach');
    expect(ok(await get(owner.client, job)).status).toBe('running');
    const deletion = await seedJob({ workbookId: null, kind: 'delete_account' });
    refused(await cancel(owner.client, deletion), 409, 'in-use');
  });
});
