import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anchorChains } from '../../activities/audit/anchorChains.ts';
import { readAnchor } from '../../activities/audit/anchors.ts';
import { startWorker } from '../../activities/worker.ts';
import type { Service } from '../../store/lifecycle.ts';
import { deleteExpired } from '../../store/pg/expiry.ts';
import { makeId, type Services } from '../../store/services.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { waitForSchedule } from '../setup/schedules.ts';
import { hideRecorder, keepHistory, listHistories, replayHistory } from './replay.ts';

/** Audit chains are anchored by the clock, whether anybody reads them or not. */

let api: TestApi;
let owner: Person;
let accountId: string;
let worker: Service;
let services: Services;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  ({ services } = api);
  owner = await api.signUp('Owner');
  accountId = ok(await owner.client.GET('/api/v1/me')).account_id;
  worker = await startWorker(api.config);
});
afterAll(async () => {
  await worker.stop();
  await api.stop();
});

const rename = async (id: string, title: string) =>
  ok(await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: id } }, body: { title } }));
const isValid = async (id: string) =>
  ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}/audit-log', { params: { path: { workbook_id: id }, query: { limit: 1 } } }))
    .chain_valid;
const anchorOf = async (scope: string) => (await readAnchor(services, accountId, scope)).anchor?.seq ?? null;
const sql = (text: string, values: unknown[] = []) => api.sql.query(text, values);
const brokenMetric = async () => /^svc_audit_chains_broken (\d+)$/m.exec(await (await api.fetch('/metrics')).text())?.[1];

async function startRun(progress?: { pagesPerRun: number }) {
  const { client } = await services.temporal();
  return client.workflow.start('anchorAudit', {
    workflowId: `anchor-audit-${makeId('req')}`,
    taskQueue: api.config.temporal.taskQueue,
    args: progress ? [{ after: '', moved: 0, broken: 0, ...progress }] : [],
  });
}
const run = async () => (await (await startRun()).result()) as { moved: number; broken: number };

describe('anchorAudit', () => {
  it('runs by the clock, once an hour', async () => {
    const schedule = await waitForSchedule(services, 'anchor-audit');
    expect(schedule.spec.intervals).toMatchObject([{ every: 3_600_000 }]);
    expect(schedule.action).toMatchObject({ workflowType: 'anchorAudit' });
  });

  it('anchors every chain that has grown, and only those', async () => {
    const id = await makeWorkbook(owner.client, 'Never read');
    const handle = await startRun();
    expect(await handle.result()).toEqual({ moved: 2, broken: 0 });
    await keepHistory('anchorAudit', handle);
    expect([await anchorOf(id), await anchorOf(accountId)]).toEqual([1, 3]);
    expect(await run()).toEqual({ moved: 0, broken: 0 });
    await rename(id, 'Grown');
    expect(await run()).toEqual({ moved: 1, broken: 0 });
    expect(await anchorOf(id)).toBe(2);
    expect(await isValid(id)).toBe(true);
  });

  it('so shows a log that nobody had read when it was cut back, head, seal and all', async () => {
    const id = await makeWorkbook(owner.client, 'Cut');
    await sql(`CREATE TABLE early AS SELECT * FROM heads WHERE scope = '${id}'`);
    await rename(id, 'Cut later');
    await run();
    await sql('DELETE FROM audit_entries WHERE scope = $1 AND seq > 1', [id]);
    await sql('UPDATE heads h SET audit_seq = e.audit_seq, chain_hash = e.chain_hash, seal = e.seal FROM early e WHERE h.scope = e.scope');
    const lines: unknown[] = [];
    const listening = { ...services, log: { error: (...line: unknown[]) => lines.push(line) } } as unknown as Services;
    expect(await anchorChains(listening, '', { heartbeat() {} })).toMatchObject({ moved: 0, broken: 1 });
    expect(lines).toEqual([[{ scope: id, account: accountId, anchoredAt: 2, endsAt: 1 }, 'an audit chain is broken']]);
    // As long as it lasts it is told again; other chains are anchored all the same.
    await makeWorkbook(owner.client, 'Other');
    expect(await run()).toEqual({ moved: 1, broken: 1 });
    expect(await brokenMetric()).toBe('1');
    expect([await isValid(id), await anchorOf(id)]).toEqual([false, 2]);
    await sql('DELETE FROM audit_entries WHERE scope = $1', [id]);
    await sql('DELETE FROM heads WHERE scope = $1', [id]);
    expect(await run()).toEqual({ moved: 0, broken: 1 });
    await sql('DELETE FROM audit_anchors WHERE scope = $1', [id]);
  });

  it('moves no anchor over a part that is not whole', async () => {
    const id = await makeWorkbook(owner.client, 'Tampered with');
    await run();
    await rename(id, 'Two');
    await rename(id, 'Three');
    await sql("UPDATE audit_entries SET actor = 'Somebody' WHERE scope = $1 AND seq = 2", [id]);
    expect(await run()).toEqual({ moved: 0, broken: 1 });
    expect(await anchorOf(id)).toBe(1);
    await sql("UPDATE audit_entries SET actor = 'Owner' WHERE scope = $1 AND seq = 2", [id]);
    expect(await run()).toEqual({ moved: 1, broken: 0 });
    expect([await anchorOf(id), await brokenMetric()]).toEqual([3, '0']);
  });

  it('looks at the new part alone, until somebody has found the chain broken', async () => {
    const id = await makeWorkbook(owner.client, 'Old part');
    await rename(id, 'Two');
    await run();
    await sql("UPDATE audit_entries SET actor = 'Somebody' WHERE scope = $1 AND seq = 1", [id]);
    await rename(id, 'Three');
    expect(await run()).toEqual({ moved: 1, broken: 0 });
    expect(await isValid(id)).toBe(false);
    expect(await run()).toEqual({ moved: 0, broken: 1 });
    await sql("UPDATE audit_entries SET actor = 'Owner' WHERE scope = $1 AND seq = 1", [id]);
    expect(await run()).toEqual({ moved: 0, broken: 0 });
    expect([await isValid(id), await brokenMetric()]).toEqual([true, '0']);
  });

  it('leaves nothing of a workbook that is purged', async () => {
    const id = await makeWorkbook(owner.client, 'Goner');
    await run();
    ok(await owner.client.DELETE('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: id } } }));
    // Its deletion is in its own chain, too; but that one is not anchored any more.
    expect(await run()).toEqual({ moved: 1, broken: 0 });
    expect(await anchorOf(id)).toBe(1);
    await sql("UPDATE workbooks SET deleted_at = now() - interval '31 days' WHERE id = $1", [id]);
    expect(await deleteExpired(services.db, () => {}, services.blobs)).toMatchObject({ workbooks: 1 });
    expect(await anchorOf(id)).toBe(null);
    expect((await sql('SELECT 1 FROM audit_anchors WHERE scope = $1', [id])).rowCount).toBe(0);
    expect(await run()).toEqual({ moved: 0, broken: 0 });
  });

  it('goes on in a new run when there are many', async () => {
    const { inner, outer } = services.auditPads;
    await sql("SELECT svc_open_head('many_' || n, $1, $2, $3) FROM generate_series(1, 150) n", [accountId, inner, outer]);
    await sql(
      `SELECT svc_journal('many_' || n, now(), 'a', NULL, 'c', 'r', '[]', '[{"action": "a", "target": "t", "detail": {}}]', '[]', '[]', $1, $2)
       FROM generate_series(1, 150) n`,
      [inner, outer],
    );
    const handle = await startRun({ pagesPerRun: 1 });
    expect(await handle.result()).toEqual({ moved: 150, broken: 0 });
    const { client } = await services.temporal();
    expect((await client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId).describe()).status.name).toBe(
      'CONTINUED_AS_NEW',
    );
    await keepHistory('anchorAuditContinued', client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId));
  });

  it('is kept, as all are, without a word of who recorded it', () => {
    for (const { name, text } of listHistories()) expect([name, text]).toEqual([name, hideRecorder(text)]);
  });

  it.each(['anchorAudit', 'anchorAuditContinued'])('replays as it ran: %s', async (name) => {
    await replayHistory(name);
    await expect(replayHistory(name, (text) => text.replaceAll('"activityId": "1"', '"activityId": "9"'))).rejects.toThrow();
  });
});
