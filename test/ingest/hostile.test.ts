import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ended, type HostileFile, hostileFiles, makeLargeFile, sendFile } from '../abuse/ingest.ts';
import { isAlive, listFileProcesses, readPeak } from '../setup/processTree.ts';
import { startWorkerProcess, type WorkerProcess } from '../setup/workerProcess.ts';
import { type IngestWorld, makeNewFile, openWorld } from './world.ts';

/** Files that ask too much, with the worker in a process of its own: it only orchestrates, and outlives all of them. */

vi.setConfig({ testTimeout: 240_000 });

const mib = 1024 * 1024;
let world: IngestWorld;
let worker: WorkerProcess;
const workers: WorkerProcess[] = [];

async function startWorker(): Promise<void> {
  worker = await startWorkerProcess(world.api.config, { SVC_INGEST_MEMORY_BYTES: String(700 * mib), SVC_INGEST_TIME_MS: '60000' });
  workers.push(worker);
}

beforeAll(async () => {
  world = await openWorld({ worker: false });
  await startWorker();
});
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.map(({ ended }) => ended));
  await world.stop();
});

const workerPid = () => worker.child.pid ?? 0;

async function send(filename: string, bytes: Uint8Array): Promise<Ended & { workbookId: string }> {
  const workbookId = await world.newWorkbook();
  const target = { url: world.api.url, token: world.owner.session, workbookId };
  return { ...(await sendFile(target, filename, bytes)), workbookId };
}

/** How often work on the file was begun: at once, then step by step. Promoting is not work on it. */
async function countTries(jobId: string): Promise<number> {
  const { client } = await world.api.services.temporal();
  const { rows } = await world.api.sql.query<{ workflow_id: string }>('SELECT workflow_id FROM jobs WHERE id = $1', [jobId]);
  const workflow = client.workflow.getHandle(rows[0]?.workflow_id ?? '');
  // A job ends before its workflow, whose history tells of an activity once that has ended.
  await workflow.result();
  const { events } = await workflow.fetchHistory();
  const promoting = (events ?? []).find(({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'promote');
  const attempts = (events ?? []).map(({ activityTaskStartedEventAttributes: started }) =>
    started && String(started.scheduledEventId) !== String(promoting?.eventId) ? (started.attempt ?? 0) : 0,
  );
  return attempts.reduce((sum, attempt) => sum + attempt, 0);
}

/** So many that the process is still at work when its first progress is seen. */
const largeRows = 250_000;
let largeFile: Buffer | undefined;

/** An honest file whose process is stopped in the middle of its work. */
async function beginLarge(): Promise<{ workbookId: string; jobId: string; pids: number[] }> {
  const workbookId = await world.newWorkbook();
  largeFile ??= makeLargeFile(largeRows);
  const response = await world.send('large.xlsx', largeFile, { workbookId, fields: { async: 'true', structuring: 'skip' } });
  const { job_id: jobId } = (await response.json()) as { job_id: string };
  await expect.poll(async () => (await world.getJob(jobId)).progress?.done ?? 0).toBeGreaterThan(0);
  const pids = listFileProcesses(workerPid());
  signalAll(pids, 'SIGSTOP');
  expect((await world.getJob(jobId)).finished_at).toBeNull();
  return { workbookId, jobId, pids };
}

function signalAll(pids: number[], signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  for (const pid of pids.filter(isAlive)) process.kill(pid, signal);
}

const waitForEnd = async (jobId: string) => {
  await expect.poll(async () => (await world.getJob(jobId)).finished_at !== null, { timeout: 150_000, interval: 250 }).toBe(true);
  return world.getJob(jobId);
};

describe('a file that asks too much', () => {
  async function sendHostile({ make }: HostileFile) {
    const pid = workerPid();
    const ended = await send('hostile.xlsx', make());
    const { jobId, error, structuring, reason, workbookId } = ended;
    if (structuring === null) {
      expect(error).toMatch(/more than|longer than/);
      expect(await world.listNames('active', workbookId)).toEqual([]);
    } else expect(['structured', 'raw_fallback']).toContain(structuring);
    expect(reason ?? '').not.toContain('internal error');
    expect(await countTries(jobId ?? '')).toBe(1);
    expect([workerPid(), isAlive(pid)]).toEqual([pid, true]);
    expect(readPeak(pid)).toBeLessThan(700 * mib);
    return ended;
  }
  const [forty, ...others] = hostileFiles as [HostileFile, ...HostileFile[]];

  it.each(others)('such as $name ends after one try, and the worker goes on', async (file) => {
    await sendHostile(file);
  });

  it(`such as ${forty.name} is told what it took too much of, too, and a small one lands at once`, async () => {
    const [refused, landed] = await Promise.all([sendHostile(forty), send('在庫.xlsx', await makeNewFile())]);
    expect(refused.error).toBe('The formulas of the file, written out for each cell, have more than 512 million characters.');
    expect(landed).toMatchObject({ error: null, structuring: 'structured' });
  });
});

describe('the process that works on a file', () => {
  it('if somebody else kills it, the file is tried again and lands', async () => {
    const { workbookId, jobId, pids } = await beginLarge();
    signalAll(pids, 'SIGKILL');
    expect(await waitForEnd(jobId)).toMatchObject({ status: 'succeeded' });
    expect(await countTries(jobId)).toBe(2);
    expect(await world.query('SELECT count(*)::INT AS n FROM large', workbookId)).toEqual([{ n: largeRows }]);
  });

  it('ends when the job is cancelled', async () => {
    const { workbookId, jobId, pids } = await beginLarge();
    expect(await world.cancelToEnd(jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
    // One that is kept ready stays.
    await expect.poll(() => pids.filter(isAlive).length).toBeLessThan(pids.length);
    signalAll(pids, 'SIGCONT');
    expect(await world.listNames('active', workbookId)).toEqual([]);
  });

  it('ends with its worker, and the next worker finishes the file', async () => {
    const { workbookId, jobId, pids } = await beginLarge();
    expect(pids.length).toBeGreaterThan(0);
    worker.child.kill('SIGKILL');
    await worker.ended;
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    await startWorker();
    expect(await waitForEnd(jobId)).toMatchObject({ status: 'succeeded' });
    expect(await world.query('SELECT count(*)::INT AS n FROM large', workbookId)).toEqual([{ n: largeRows }]);
  });
});
