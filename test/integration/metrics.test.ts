import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
});
