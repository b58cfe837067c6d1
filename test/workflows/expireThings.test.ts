import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Client, ScheduleOverlapPolicy, WorkflowFailedError } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker } from '../../activities/worker.ts';
import type { Service } from '../../store/lifecycle.ts';
import { makeId } from '../../store/services.ts';
import { ensureSchedules, scheduleId } from '../../store/temporal/schedules.ts';
import { makeJob } from '../contract/world.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { waitForSchedule } from '../setup/schedules.ts';
import { keepHistory, readHistory, replayHistory } from './replay.ts';

/** A real worker, a real schedule, a real database. */

let api: TestApi;
let owner: Person;
let accountId: string;
let worker: Service;
let client: Client;
const expireSchedule = () => scheduleId('expire-things', api.config.temporal.taskQueue);

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  owner = await api.signUp('Owner');
  accountId = ok(await owner.client.GET('/api/v1/me')).account_id;
  worker = await startWorker(api.config);
  ({ client } = await api.services.temporal());
});
afterAll(async () => {
  await worker.stop();
  await client.schedule.getHandle(expireSchedule()).delete();
  await api.stop();
});

const sql = (text: string, values: unknown[] = []) => api.sql.query(text, values);
const count = async (table: string, where = 'true') =>
  (await sql(`SELECT count(*)::int AS n FROM ${table} WHERE ${where}`)).rows[0]?.n as number;

/** Runs the schedule now and gives what its workflow answered. */
async function runSchedule(): Promise<{ workflowId: string; result: Record<string, number> }> {
  const schedule = client.schedule.getHandle(expireSchedule());
  const recent = async () => (await schedule.describe()).info.recentActions.map(({ action }) => action.workflow);
  const before = new Set((await recent()).map(({ firstExecutionRunId }) => firstExecutionRunId));
  // Should the schedule not have noticed yet that the run before has ended, this one waits for it.
  await schedule.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  for (const until = Date.now() + 120_000; Date.now() < until; await delay(100)) {
    const started = (await recent()).find(({ firstExecutionRunId }) => !before.has(firstExecutionRunId));
    if (!started) continue;
    const handle = client.workflow.getHandle(started.workflowId, started.firstExecutionRunId);
    const result = (await handle.result()) as Record<string, number>;
    await keepHistory('expireThings', handle);
    return { workflowId: started.workflowId, result };
  }
  throw new Error('the schedule started nothing');
}

describe('ensureSchedules: the schedule', () => {
  it('is there once a worker is, every hour, one run at a time', async () => {
    const schedule = await waitForSchedule(api.services, 'expire-things');
    expect(schedule.spec.intervals).toMatchObject([{ every: 3_600_000 }]);
    expect(schedule.policies.overlap).toBe('SKIP');
    expect(schedule.action).toMatchObject({ workflowType: 'expireThings', taskQueue: api.config.temporal.taskQueue });
    expect(schedule.memo?.purpose).toContain('outlived');
  });

  it('stays one when many workers start, and keeps its pause', async () => {
    const handle = client.schedule.getHandle(expireSchedule());
    await handle.pause('by the test');
    const temporal = await api.services.temporal();
    await Promise.all(Array.from({ length: 5 }, () => ensureSchedules(temporal, api.config)));
    // Not by the client's own list, which reads what other services on this server have sealed.
    const { schedules } = await client.workflowService.listSchedules({ namespace: client.options.namespace, maximumPageSize: 1_000 });
    expect(schedules?.filter(({ scheduleId }) => scheduleId === expireSchedule())).toHaveLength(1);
    expect((await handle.describe()).state).toMatchObject({ paused: true, note: 'by the test' });
    await handle.unpause();
  });
});

describe('expireThings', () => {
  it('removes what has outlived its time, and nothing else', async () => {
    const [kept, goner, recent] = [
      await makeWorkbook(owner.client, 'Kept'),
      await makeWorkbook(owner.client, 'Goner'),
      await makeWorkbook(owner.client, 'Recent'),
    ];
    const seedJob = (days: number, workbookId: string | null = null) =>
      makeJob(api, {
        accountId,
        userId: owner.userId,
        workbookId,
        status: 'succeeded',
        finishedAt: new Date(Date.now() - days * 86_400_000),
      });
    const jobs = {
      old: await seedJob(8),
      young: await seedJob(6),
      ofGoner: await seedJob(1, goner),
      running: await makeJob(api, { accountId, userId: owner.userId, workbookId: kept }),
    };
    await sql("UPDATE workbooks SET deleted_at = now() - interval '31 days' WHERE id = $1", [goner]);
    await sql("UPDATE workbooks SET deleted_at = now() - interval '29 days' WHERE id = $1", [recent]);
    // More than one batch.
    await sql(`INSERT INTO idempotency (scope, key_hash, request_hash, status, headers, expires_at)
               SELECT 'x', sha256(n::text::bytea), '', 200, '{}', now() + make_interval(mins => CASE WHEN n <= 2500 THEN -1 ELSE 60 END) FROM generate_series(1, 2503) n`);
    await sql(
      "INSERT INTO sessions (jti, user_id, expires_at) VALUES ('over', $1, now() - interval '1 second'), ('not over', $1, now() + interval '1 hour')",
      [owner.userId],
    );
    await sql("INSERT INTO login_attempts (subject, attempt, at) VALUES ('old', 'a', now() - interval '3 minutes'), ('new', 'b', now())");
    await sql(
      "INSERT INTO rate_windows (subject, minute, leased) VALUES ('old', extract(epoch FROM now())::int / 60 - 10, 1), ('new', extract(epoch FROM now())::int / 60, 1)",
    );
    await sql(
      "INSERT INTO request_counts (account_id, user_id, credential_id, kind, at, requests) VALUES ('a', 'u', 'old', 'session', now() - interval '401 days', 1), ('a', 'u', 'new', 'session', now() - interval '399 days', 1)",
    );

    const { workflowId, result } = await runSchedule();
    expect(result).toMatchObject({
      idempotency_records: 2500,
      sessions: 1,
      login_attempts: 1,
      rate_windows: 1,
      request_counts: 1,
      jobs: 1,
      workbooks: 1,
    });
    expect(workflowId).toMatch(/^expire-things\.test-/);

    expect(await count('idempotency', "scope = 'x'")).toBe(3);
    expect(await count('sessions', "jti IN ('over', 'not over')")).toBe(1);
    expect((await sql("SELECT subject FROM login_attempts WHERE subject IN ('old', 'new')")).rows).toEqual([{ subject: 'new' }]);
    expect((await sql("SELECT subject FROM rate_windows WHERE subject IN ('old', 'new')")).rows).toEqual([{ subject: 'new' }]);
    expect((await sql("SELECT credential_id FROM request_counts WHERE credential_id IN ('old', 'new')")).rows).toEqual([
      { credential_id: 'new' },
    ]);
    const left = (await sql('SELECT id FROM jobs')).rows.map((row) => row.id as string);
    expect(left.sort()).toEqual([jobs.young, jobs.running].sort());
    expect((await sql('SELECT id FROM workbooks')).rows.map((row) => row.id as string).sort()).toEqual([kept, recent].sort());
    for (const table of ['heads', 'audit_entries']) {
      expect([table, await count(table, `scope = '${goner}'`)]).toEqual([table, 0]);
      expect([table, await count(table, `scope = '${recent}'`)]).not.toEqual([table, 0]);
    }
    // The living are not touched: the session still works, the workbook still opens.
    expect((await owner.client.GET('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: kept } } })).response.status).toBe(
      200,
    );
  });

  it('finds nothing to do the second time, and can be found by what it is', async () => {
    const { workflowId, result } = await runSchedule();
    expect(Object.values(result).every((n) => n === 0)).toBe(true);
    const description = await client.workflow.getHandle(workflowId).describe();
    expect(description.type).toBe('expireThings');
    expect(description.typedSearchAttributes.getAll()).toEqual(
      expect.arrayContaining([expect.objectContaining({ key: expect.objectContaining({ name: 'SvcKind' }), value: 'maintenance' })]),
    );
    await expect
      .poll(async () => {
        const found: string[] = [];
        for await (const run of client.workflow.list({ query: "SvcKind = 'maintenance' AND WorkflowType = 'expireThings'" }))
          found.push(run.workflowId);
        return found;
      })
      .toContain(workflowId);
  });
});

describe('payloads: a payload', () => {
  it('of more than 64 KB is refused where it is made', async () => {
    const start = (bytes: number) =>
      client.workflow.start('expireThings', {
        workflowId: makeId('req'),
        taskQueue: api.config.temporal.taskQueue,
        args: ['x'.repeat(bytes)],
      });
    await expect(start(70_000)).rejects.toThrow(/payload/);
    const small = await start(60_000);
    expect(await small.result()).toBeTypeOf('object');
  });
});

describe('expireThings: the recorded history', () => {
  it('is replayed by the workflows as they are now', () => replayHistory('expireThings'));

  it('is refused by a workflow that was changed without care', async () => {
    const workflowsPath = fileURLToPath(new URL('./changed/expireThings.ts', import.meta.url));
    const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    await expect(Worker.runReplayHistory({ workflowBundle: { code } }, readHistory('expireThings'))).rejects.toThrow(
      DeterminismViolationError,
    );
  });
});

describe('startWorker: a workflow that fails', () => {
  it('fails for its caller, and the worker goes on', async () => {
    const handle = await client.workflow.start('noSuchWorkflow', {
      workflowId: makeId('req'),
      taskQueue: api.config.temporal.taskQueue,
      workflowTaskTimeout: '1 second',
      workflowExecutionTimeout: '3 seconds',
    });
    await expect(handle.result()).rejects.toThrow(WorkflowFailedError);
    expect((await runSchedule()).result).toBeTypeOf('object');
  });
});
