import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updateJob } from '../../store/pg/jobs.ts';
import { type JobSeed, makeJob } from '../contract/world.ts';
import { type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, mintToken } from '../setup/credentials.ts';
import { watchStatements } from '../setup/statements.ts';

/** Waiting for jobs and following them. Their rows are written as workflows write them. */

let api: TestApi;
let owner: Person;
let seed: JobSeed;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  owner = await api.signUp('Owner');
  const { data } = await owner.client.GET('/api/v1/me');
  seed = { accountId: data?.account_id ?? '', userId: owner.userId, workbookId: await makeWorkbook(owner.client, 'Jobs') };
});
afterAll(() => api.stop());

const update = (id: string, fields: Parameters<typeof updateJob>[2]) => updateJob(api.services.db.orm, id, fields);
const end = (id: string) => update(id, { status: 'failed', error: 'ended', finishedAt: new Date() });
const wait = async (id: string, seconds: number | string, init: RequestInit = {}) =>
  api.fetch(`/api/v1/jobs/${id}?wait=${seconds}`, { token: owner.session, ...init });
const statusOf = async (answer: Response) => ((await answer.json()) as { status: string }).status;

/** Whether somebody waits for the job. */
const isWaitedFor = async () =>
  (await watchStatements(() => new Promise((done) => setTimeout(done, 400)))).some(({ name }) => name === 'job_versions');

interface JobEvent {
  id: string;
  name: string;
  job: { status: string; progress: { stage: string; done: number; total: number | null } };
}

/** Reads the stream to its end; `onEvent` is told of each event. */
async function readStream(
  id: string,
  onEvent: (event: JobEvent) => Promise<void>,
  headers: Record<string, string> = {},
): Promise<JobEvent[]> {
  const answer = await fetch(`${api.url}/api/v1/jobs/${id}/events`, { headers: { Authorization: `Bearer ${owner.session}`, ...headers } });
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(answer.headers.get('cache-control')).toContain('no-store');
  const events: JobEvent[] = [];
  let text = '';
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const fields = Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
      if (fields.event === undefined) continue;
      const event = { id: fields.id ?? '', name: fields.event, job: JSON.parse(fields.data ?? '') as JobEvent['job'] };
      events.push(event);
      await onEvent(event);
    }
  }
  return events;
}

describe('getJob with wait', () => {
  it('answers when the job ends', async () => {
    const id = await makeJob(api, seed);
    const waiting = wait(id, 45);
    await expect.poll(isWaitedFor).toBe(true);
    await update(id, { stage: 'read', done: 1 });
    await end(id);
    expect(await statusOf(await waiting)).toBe('failed');
  });

  it('answers with the job as it is when the time is over, and at once without it or when it is over', async () => {
    const id = await makeJob(api, seed);
    expect(await statusOf(await wait(id, 1))).toBe('running');
    expect(await statusOf(await wait(id, 0))).toBe('running');
    await end(id);
    expect(await statusOf(await wait(id, 45))).toBe('failed');
  });

  it.each(['46', '-1', '1.5', 'long'])('refuses to wait %s seconds', async (seconds) => {
    expect((await wait(await makeJob(api, seed), seconds)).status).toBe(422);
  });

  it('looks at the rows once for all who wait, and not at all when they have gone', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => makeJob(api, seed)));
    const gone = new AbortController();
    const waiting = ids.flatMap((id) => Array.from({ length: 4 }, () => wait(id, 45, { signal: gone.signal }).catch(() => null)));
    const asked = () => watchStatements(() => new Promise((done) => setTimeout(done, 1000)));
    await expect
      .poll(
        async () =>
          (await asked())
            .filter(({ name }) => name === 'job_versions')
            .at(-1)
            ?.values.flat().length,
      )
      .toBe(5);
    const sent = await asked();
    // Twenty who look for themselves, as often as one of them, would send twenty times as many.
    expect(sent.filter(({ name }) => name === 'job_versions').length).toBeLessThan(20);
    expect(sent.filter(({ text }) => text.includes('from "jobs"'))).toEqual([]);
    gone.abort();
    await Promise.all(waiting);
    await expect.poll(isWaitedFor).toBe(false);
  });

  it('has a bound for each credential: past it the answer comes at once', async () => {
    const id = await makeJob(api, seed);
    const { text: token } = await mintToken(owner.client, { scopes: ['workbooks:read'] });
    const waiting = Array.from({ length: 50 }, () => wait(id, 45, { headers: { Authorization: `Bearer ${token}` }, token } as RequestInit));
    await expect
      .poll(async () => {
        const stream = await fetch(`${api.url}/api/v1/jobs/${id}/events`, { headers: { Authorization: `Bearer ${token}` } });
        const { status } = stream;
        await stream.body?.cancel();
        return status;
      })
      .toBe(429);
    expect(await statusOf(await wait(id, 45, { token } as RequestInit))).toBe('running');
    await end(id);
    for (const each of await Promise.all(waiting)) expect(await statusOf(each)).toBe('failed');
  });
});

describe('followJob', () => {
  it('shows the current state, each change, and the end', async () => {
    const id = await makeJob(api, seed);
    const events = await readStream(id, async ({ job }) => {
      if (job.progress.done === 0) await update(id, { stage: 'read', done: 5, total: 10 });
      else if (job.status === 'running') await end(id);
    });
    expect(events.map(({ name, job }) => [name, job.status, job.progress.stage, job.progress.done])).toEqual([
      ['job', 'running', 'running', 0],
      ['job', 'running', 'read', 5],
      ['job', 'failed', 'read', 5],
    ]);
    expect(new Set(events.map((event) => event.id)).size).toBe(3);
  });

  it('goes on after the last event that was seen, and is over once the end was', async () => {
    const id = await makeJob(api, seed);
    const states: string[] = [];
    await readStream(id, async (event) => {
      states.push(event.id);
      if (event.job.status === 'running') await end(id);
    });
    const [first = '', last = ''] = states;
    expect(await readStream(id, async () => {}, { 'Last-Event-ID': first })).toMatchObject([{ id: last, job: { status: 'failed' } }]);
    const headers = { 'Last-Event-ID': last };
    expect((await api.fetch(`/api/v1/jobs/${id}/events`, { token: owner.session, headers })).status).toBe(204);
  });

  it('lets go of the job when the client goes', async () => {
    const id = await makeJob(api, seed);
    const gone = new AbortController();
    const headers = { Authorization: `Bearer ${owner.session}` };
    const answer = await fetch(`${api.url}/api/v1/jobs/${id}/events`, { headers, signal: gone.signal });
    await expect.poll(isWaitedFor).toBe(true);
    gone.abort();
    await answer.text().catch(() => {});
    await expect.poll(isWaitedFor).toBe(false);
    expect((await api.fetch(`/api/v1/jobs/${id}/events`, { method: 'HEAD', token: owner.session })).status).toBe(200);
    await expect.poll(isWaitedFor).toBe(false);
  });

  it('shows a job to nobody else', async () => {
    const id = await makeJob(api, seed);
    const stranger = await api.signUp('Stranger');
    expect((await api.fetch(`/api/v1/jobs/${id}/events`, { token: stranger.session })).status).toBe(404);
    expect((await api.fetch(`/api/v1/jobs/${id}?wait=45`, { token: stranger.session })).status).toBe(404);
  });
});

describe('a process that stops', () => {
  it('answers those who wait', async () => {
    const other = await api.another();
    const id = await makeJob(api, seed);
    const headers = { Authorization: `Bearer ${owner.session}` };
    const waiting = fetch(`${other.url}/api/v1/jobs/${id}?wait=45`, { headers });
    const stream = await fetch(`${other.url}/api/v1/jobs/${id}/events`, { headers });
    await expect.poll(isWaitedFor).toBe(true);
    await other.stop();
    expect(await statusOf(await waiting)).toBe('running');
    expect(await stream.text()).toContain('"status":"running"');
  });
});
