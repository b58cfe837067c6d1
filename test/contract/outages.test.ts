import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadContract } from '../../api/http/contract.ts';
import { startApi } from '../../api/server.ts';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { connectTo, type TestApi, type TestServer, testConfig } from '../setup/api.ts';
import { makeSample, sendSample } from './samples.ts';
import { makeJob, makeWorld, startWorkingApi, type World } from './world.ts';

/** The two problems that any operation can have: something is away, or something is wrong with us. */

const operations = (await loadContract()).operations;

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await startWorkingApi();
  world = await makeWorld(api);
});
afterAll(() => api.stop());

describe('a part that is away', () => {
  let severed: TestServer;

  beforeAll(async () => {
    const nobody = await findFreePort();
    const running = await startApi(testConfig(`postgres://svc:svc@127.0.0.1:${nobody}/svc`, { TEMPORAL_ADDRESS: `127.0.0.1:${nobody}` }));
    const url = `http://127.0.0.1:${running.port}`;
    severed = { url, ...connectTo(url, api.contract), stop: running.stop };
  });
  afterAll(() => severed.stop());

  const needing = operations.filter(({ accepts, id }) => accepts.length > 0 || id === 'signUp' || id === 'logIn');

  it.each(needing)('is 503 for $id, which needs the database', async (operation) => {
    const there = { ...world, api: { ...api, fetch: severed.fetch } };
    const sample = await makeSample(world, operation);
    const answer = await sendSample(there, operation, { ...sample, token: sample.token === null ? null : world.pinnedKey });
    const { type } = (await answer.json()) as { type: string };
    expect([answer.status, type]).toEqual([503, 'urn:svc:problem:unavailable']);
    expect(answer.headers.get('retry-after')).toBeTruthy();
  });

  it('does not make the process look dead, nor ready', async () => {
    expect((await severed.fetch('/healthz')).status).toBe(200);
    const ready = await severed.fetch('/readyz');
    const problem = (await ready.json()) as { errors: { pointer: string }[] };
    expect([ready.status, problem.errors.map(({ pointer }) => pointer)]).toEqual([503, ['/checks/database', '/checks/temporal']]);
    expect((await severed.fetch('/docs')).status).toBe(200);
  });

  it('is 503 where Temporal alone is needed', async () => {
    const half = await api.another({ TEMPORAL_ADDRESS: `127.0.0.1:${await findFreePort()}` });
    const job = await makeJob(api, { accountId: world.accountId, userId: world.owner.userId, workbookId: world.workbook });
    const answer = await half.fetch(`/api/v1/jobs/${job}/cancel`, { method: 'POST', token: world.owner.session });
    expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ type: 'urn:svc:problem:unavailable' })]);
    const ready = (await (await half.fetch('/readyz')).json()) as { errors: { pointer: string }[] };
    expect(ready.errors.map(({ pointer }) => pointer)).toEqual(['/checks/temporal']);
  });

  it('that is only the workers leaves the API ready, and says what waits', async () => {
    const alone = await api.another({ TEMPORAL_TASK_QUEUE: 'nobody-works-here' });
    const ready = await alone.fetch('/readyz');
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { status: 'ready', checks: { temporal: 'ok', workers: 'away' }, notice: expect.stringContaining('No worker asks for tasks') },
    ]);
    const staffed = await api.fetch('/readyz');
    expect(await staffed.json()).toMatchObject({ status: 'ready', checks: { workers: 'ok' }, notice: null });
  });

  it('is 503 where another change holds a row for too long', async () => {
    const blocker = await api.sql.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM heads WHERE scope = $1 FOR UPDATE', [world.workbook]);
    const answer = await api.fetch(`/api/v1/workbooks/${world.workbook}`, {
      method: 'PATCH',
      token: world.owner.session,
      headers: { 'Content-Type': 'application/json' },
      body: '{"title":"Held up"}',
    });
    await blocker.query('ROLLBACK');
    blocker.release();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    const { rows } = await api.sql.query('SELECT title FROM workbooks WHERE id = $1', [world.workbook]);
    expect(rows).toEqual([{ title: 'Budget' }]);
  });
});

describe('something that is wrong with us', () => {
  it('is an opaque 500 with the request id, and nothing is changed', async () => {
    await api.sql.query('ALTER TABLE audit_entries RENAME COLUMN action TO renamed_by_the_test');
    try {
      const answer = await api.fetch('/api/v1/workbooks', {
        method: 'POST',
        token: world.owner.session,
        headers: { 'Content-Type': 'application/json' },
        body: '{"title":"Never there"}',
      });
      const text = await answer.text();
      expect(answer.status).toBe(500);
      expect(text).not.toMatch(/renamed_by_the_test|audit_entries|column|\.ts|node_modules|Never there/);
      const problem = JSON.parse(text) as Record<string, string>;
      expect(problem.type).toBe('urn:svc:problem:internal');
      expect(problem.suggested_fix).toContain(answer.headers.get('x-request-id') ?? 'none');
    } finally {
      await api.sql.query('ALTER TABLE audit_entries RENAME COLUMN renamed_by_the_test TO action');
    }
    const { rowCount } = await api.sql.query("SELECT 1 FROM workbooks WHERE title = 'Never there'");
    expect(rowCount).toBe(0);
    const again = await api.fetch('/api/v1/workbooks', {
      method: 'POST',
      token: world.owner.session,
      headers: { 'Content-Type': 'application/json' },
      body: '{"title":"There again"}',
    });
    expect(again.status).toBe(201);
  });
});
