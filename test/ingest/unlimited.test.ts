import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { settleCredits } from '../../activities/credits/settleCredits.ts';
import { commit } from '../../store/pg/commit.ts';
import { makeId } from '../../store/services.ts';
import { ok } from '../setup/api.ts';
import { startWorkerProcess, type WorkerProcess } from '../setup/workerProcess.ts';
import { type IngestWorld, makeNewFile, makeXlsx, openWorld, scattered } from './world.ts';

/** An installation without a limit on credits, and what its worker writes to the log. */

let world: IngestWorld;
let worker: WorkerProcess;

beforeAll(async () => {
  world = await openWorld({ worker: false, env: { SVC_CREDITS: 'unlimited' } });
  worker = await startWorkerProcess(world.api.config, { SVC_LOG_LEVEL: 'info' });
});
afterAll(async () => {
  worker.child.kill('SIGTERM');
  await worker.ended;
  await world.stop();
});

const readLog = () =>
  worker
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Takes all credits of the account, as other work would. */
async function useUp(amount: number): Promise<void> {
  const { account_id: accountId } = ok(await world.owner.client.GET('/api/v1/me'));
  const actor = { name: 'test', userId: null, credential: 'none', requestId: 'test' };
  const jobId = makeId('job');
  await commit(world.api.services, actor, async (tx) => {
    await reserveCredits(tx, { accountId, workbookId: null, jobId, amount });
    await settleCredits(tx, jobId, accountId);
  });
}

describe('credits without a limit', () => {
  it('are counted, but refuse nothing', async () => {
    const { remaining, used } = await world.readCredits();
    await useUp(remaining);
    const answer = await world.upload('在庫.xlsx', await makeNewFile());
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 1 });
    const after = await world.readCredits();
    expect(after).toMatchObject({ used: used + remaining + 1, remaining: 0 });
    expect(after.included + after.purchased - after.used).toBe(after.remaining);
  });
});

describe('the log of the worker', () => {
  it('has a line with the figures of each ingest, and nothing of its content', async () => {
    const bytes = await makeNewFile(40);
    const { source } = await world.upload('秘密.xlsx', bytes);
    await expect.poll(readLog).toContainEqual(expect.objectContaining({ sourceId: source.id }));
    expect(readLog().find(({ sourceId }) => sourceId === source.id)).toMatchObject({
      msg: 'job ended',
      kind: 'ingest',
      status: 'succeeded',
      workbookId: world.workbookId,
      bytes: bytes.length,
      rows: 41,
      tables: 1,
      cells: 126,
      structuring: 'structured',
      credits: 1,
      ms: expect.any(Number),
      request: expect.stringMatching(/^req_/),
    });
    expect(worker.output()).not.toContain('秘密');
    expect(worker.output()).not.toContain('P0001');
  });

  it('tells of a fall-back and of a refused file as warnings', async () => {
    const { source } = await world.upload('乱.xlsx', await makeXlsx({ S: scattered(62) }));
    await expect.poll(readLog).toContainEqual(
      expect.objectContaining({
        sourceId: source.id,
        level: 40,
        structuring: 'raw_fallback',
        reason: 'failed',
        notice: expect.stringContaining('parse spec'),
      }),
    );
    expect((await world.send('空.xlsx', await makeXlsx({ S: [] }))).status).toBe(422);
    await expect.poll(readLog).toContainEqual(expect.objectContaining({ level: 40, status: 'failed', code: 'validation-failed' }));
  });

  it('says nothing of sweeps that found nothing', async () => {
    const told = readLog().map(({ msg }) => msg);
    expect(told.filter((msg) => msg !== 'job ended' && msg !== 'working' && msg !== 'search attributes registered')).toEqual([]);
  });
});
