import { afterAll, expect, it } from 'vitest';
import { promoteBuild } from '../../store/temporal/deployment.ts';
import { holdDraft } from '../ingest/hold.ts';
import { bare, makeXlsx, openWorld } from '../ingest/world.ts';
import { startWorkerProcess, type WorkerProcess } from '../setup/workerProcess.ts';

/** Workers of two builds at once, as while a release is rolled out: only the promoted one gets tasks, and no job notices. */

const world = await openWorld({ worker: false });
const workers: WorkerProcess[] = [];
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.map(({ ended }) => ended));
  await world.stop();
});

async function startBuild(buildId: string): Promise<WorkerProcess> {
  const worker = await startWorkerProcess(world.api.config, { SVC_BUILD_ID: buildId });
  workers.push(worker);
  return worker;
}

const promote = (buildId: string) => promoteBuild({ ...world.api.config.temporal, buildId }, 60_000);

async function begin(sheet: string): Promise<string> {
  const response = await world.send(`${sheet}.xlsx`, await makeXlsx({ [sheet]: bare(3) }), { fields: { async: 'true' } });
  return ((await response.json()) as { job_id: string }).job_id;
}

/** Builds of the workers that ran the workflow of a job, in order. */
async function listBuilds(jobId: string): Promise<string[]> {
  const { rows } = await world.api.sql.query<{ workflow_id: string }>('SELECT workflow_id FROM jobs WHERE id = $1', [jobId]);
  const { client } = await world.api.services.temporal();
  const { events } = await client.workflow.getHandle(rows[0]?.workflow_id ?? '').fetchHistory();
  const builds = (events ?? []).map(({ workflowTaskCompletedEventAttributes: done }) => done?.deploymentVersion?.buildId);
  return [...new Set(builds.filter((build) => build != null))];
}

it('gives tasks to the promoted build alone, and lets jobs of the one before end', async () => {
  const older = await startBuild('release-1');
  expect(await promote('release-1')).toBe('release-1');
  const held = await begin('held');
  const hold = await holdDraft(world.api.sql, held, 'raw');
  await hold.reached();

  const newer = await startBuild('release-2');
  const early = await begin('early');
  expect(await world.waitForJob(early)).toMatchObject({ status: 'succeeded' });
  expect(await listBuilds(early)).toEqual(['release-1']);

  await promote('release-2');
  const late = await begin('late');
  expect(await world.waitForJob(late)).toMatchObject({ status: 'succeeded' });
  expect(await listBuilds(late)).toEqual(['release-2']);
  expect(((await (await world.api.fetch('/readyz')).json()) as { checks: object }).checks).toMatchObject({ workers: 'ok' });

  // The step that it is in belongs to the older worker, what comes after it to the newer one.
  await hold.letGo();
  expect(await world.waitForJob(held)).toMatchObject({ status: 'succeeded' });
  expect(await listBuilds(held)).toEqual(['release-1', 'release-2']);
  older.child.kill('SIGTERM');
  await older.ended;
  expect(await world.waitForJob(await begin('after'))).toMatchObject({ status: 'succeeded' });
  newer.child.kill('SIGTERM');
  await newer.ended;
});

it('refuses to promote a build that nobody runs', async () => {
  await expect(promoteBuild({ ...world.api.config.temporal, buildId: 'misspelt' }, 0)).rejects.toThrow();
});

it('leaves workers without a build id alone', async () => {
  expect(await promoteBuild(world.api.config.temporal, 0)).toBe(null);
});
