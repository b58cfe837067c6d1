import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../store/config.ts';
import { makeJob } from '../contract/world.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { watchStatements } from '../setup/statements.ts';
import { editRows, makeTable } from '../setup/tables.ts';

/** What operators see at /metrics. */

let api: TestApi;
let owner: Person;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  owner = await api.signUp('Owner');
});
afterAll(() => api.stop());

/** The samples by name and labels. */
async function readMetrics(): Promise<Map<string, number>> {
  const lines = (await (await api.fetch('/metrics')).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

describe('getMetrics', () => {
  it('tells of jobs, queues, query processes, caches, bytes and the build', async () => {
    const workbookId = await makeWorkbook(owner.client, '指標');
    const { account_id: accountId } = ok(await owner.client.GET('/api/v1/me'));
    const seed = { accountId, userId: owner.userId, workbookId };
    await makeJob(api, { ...seed, kind: 'ingest', status: 'pending' });
    await makeJob(api, { ...seed, kind: 'ingest', status: 'pending' });
    await makeJob(api, { ...seed, kind: 'analyze', status: 'running' });
    await makeTable(owner.client, workbookId, '表', [{ name: 'a' }]);
    const rows = Array.from({ length: 2000 }, (_, n) => ({ a: `値 ${n}` }));
    await editRows(owner.client, workbookId, '表', rows, 1);
    const params = { path: { workbook_id: workbookId } };
    ok(await owner.client.POST('/api/v1/workbooks/{workbook_id}/query', { params, body: { sql: 'SELECT count(*) FROM 表' } }));

    const metrics = await readMetrics();
    expect(metrics.get('svc_jobs{kind="ingest",status="pending"}')).toBe(2);
    expect(metrics.get('svc_jobs{kind="analyze",status="running"}')).toBe(1);
    expect(metrics.get('svc_queue_length{queue="jobs"}')).toBe(2);
    for (const queue of ['workflow_tasks', 'activity_tasks', 'queries']) expect(metrics.get(`svc_queue_length{queue="${queue}"}`)).toBe(0);
    // No worker publishes them here.
    expect(metrics.get('svc_queue_length{queue="events"}')).toBeGreaterThan(0);
    expect(metrics.get('svc_queue_length{queue="deliveries"}')).toBe(0);
    const processes = ['busy', 'idle'].map((state) => metrics.get(`svc_query_processes{state="${state}"}`) ?? 0);
    expect(Math.max(...processes)).toBeGreaterThan(0);
    expect(metrics.get('svc_stored_bytes{what="tables"}')).toBeGreaterThan(2000);
    expect(metrics.get('svc_stored_bytes{what="sources"}')).toBe(0);
    expect(metrics.get('svc_stored_bytes{what="database"}')).toBeGreaterThan(1_000_000);
    expect(metrics.get(`svc_build_info{version="${api.contract.version}",node="${process.versions.node}"}`)).toBe(1);
    expect(metrics.get('svc_audit_chains_broken')).toBe(0);
  });

  it('counts what the caches had', async () => {
    const before = await readMetrics();
    const workbookId = await makeWorkbook(owner.client, '貯え');
    await makeTable(owner.client, workbookId, '表', [{ name: 'a' }]);
    const made = Array.from({ length: 2000 }, (_, n) => ({ a: String(n) }));
    await editRows(owner.client, workbookId, '表', made, 1);
    const params = { path: { workbook_id: workbookId, name: '表' }, query: { limit: 2, offset: 1000 } };
    for (let n = 0; n < 2; n += 1) ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { params }));
    const after = await readMetrics();
    for (const outcome of ['hit', 'miss']) {
      const name = `svc_cache_lookups_total{cache="footers",outcome="${outcome}"}`;
      expect([name, after.get(name)]).toEqual([name, expect.any(Number)]);
      expect(after.get(name)).toBeGreaterThan(before.get(name) ?? 0);
    }
  });

  it('does not count anew for each reader', async () => {
    await readMetrics();
    const sent = await watchStatements(() => Promise.all(Array.from({ length: 10 }, readMetrics)));
    expect(sent.filter(({ text }) => /FROM jobs|pg_database_size/.test(text)).length).toBeLessThanOrEqual(1);
  });

  const token = 'a token for the collector';
  const asFrom = (address: string, more: Record<string, string> = {}) => ({ headers: { 'X-Forwarded-For': address, ...more } });
  it.each([
    ['the machine itself', {}, {}, 200],
    ['a stranger', { SVC_TRUST_PROXY: 'on' }, asFrom('192.0.2.1'), 401],
    ['a stranger who claims to be the machine', { SVC_TRUST_PROXY: 'on' }, asFrom('127.0.0.1, 192.0.2.1'), 401],
    ['a stranger behind a proxy that is not believed', {}, asFrom('127.0.0.1'), 401],
    ['a network that is named', { SVC_TRUST_PROXY: 'on', SVC_METRICS_ADDRESSES: '10.0.0.0/8, 2001:db8::/32' }, asFrom('2001:db8::7'), 200],
    ['one that is not', { SVC_TRUST_PROXY: 'on', SVC_METRICS_ADDRESSES: '10.0.0.0/8' }, asFrom('11.0.0.1'), 401],
    ['the holder of the token', { SVC_METRICS_TOKEN: token }, asFrom('192.0.2.1', { Authorization: `Bearer ${token}` }), 200],
    ['the holder of another', { SVC_METRICS_TOKEN: token }, asFrom('192.0.2.1', { Authorization: `Bearer ${token}x` }), 401],
    ['an ordinary user', { SVC_TRUST_PROXY: 'on' }, () => asFrom('192.0.2.1', { Authorization: `Bearer ${owner.session}` }), 401],
  ])('is for operators: %s', async (_who, env, init, status) => {
    const server = await api.another(env);
    expect((await server.fetch('/metrics', typeof init === 'function' ? init() : init)).status).toBe(status);
    await server.stop();
  });

  it('is not opened by a setting that names no network', () => {
    expect(() => loadConfig({ SVC_METRICS_ADDRESSES: 'anywhere' })).toThrow(/SVC_METRICS_ADDRESSES must hold addresses or networks/);
    expect(() => loadConfig({ SVC_METRICS_TOKEN: 'short' })).toThrow(/SVC_METRICS_TOKEN must have at least 16 characters/);
  });
});
