import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { inheritEnvWithout } from '../../store/childEnv.ts';
import { projectDir } from '../../store/config.ts';
import { variableNames } from '../../store/variables.ts';
import { startLoad } from '../faults/clusterLoad.ts';
import { waitUntil } from '../faults/product.ts';
import { isAtWork, type OwnServices, withServices } from './ownServices.ts';

/**
 * `npm run upgrade -- COMMIT`: processes of an older commit work while the migrations of this one are applied beneath them, and
 * while processes of this one take over. Nobody may get an error. The commit must get along with the packages of this one.
 */
const commit = process.argv[2] ?? 'HEAD~1';

function checkOut(root: string): string {
  const dir = join(root, 'older');
  mkdirSync(dir);
  const { status } = spawnSync('/bin/sh', ['-c', `git archive "${commit}" | tar -x -C "${dir}"`], { cwd: projectDir, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${commit} is no commit of this repository`);
  symlinkSync(join(projectDir, 'node_modules'), join(dir, 'node_modules'));
  return dir;
}

async function start({ root, registry, env }: OwnServices, dir: string, part: 'api' | 'worker' | 'migrate') {
  console.log(`starting   ${part} of ${dir === projectDir ? 'this commit' : commit}`);
  const [port, name] = [await findFreePort(), `${part}-${dir === projectDir ? 'newer' : 'older'}`];
  const bundle = `(await import(${JSON.stringify(pathToFileURL(join(dir, 'store/builds/programs.mjs')))})).prepareProgram('${part}')`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', `await import(await ${bundle})`], {
    cwd: dir,
    env: inheritEnvWithout(variableNames, {
      ...env,
      PORT: String(port),
      SVC_DATA_DIR: join(root, name),
      SVC_LOG_LEVEL: 'warn',
      SVC_CREDITS: 'unlimited',
    }),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (child.pid) registry.track({ name, pid: child.pid, order: 0, steps: [{ signal: 'SIGTERM', waitMs: 15_000 }] });
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url: `http://127.0.0.1:${port}`, ended, stop };
}

async function startPair(services: OwnServices, dir: string) {
  const [worker, api] = [await start(services, dir, 'worker'), await start(services, dir, 'api')];
  await waitUntil(
    () => isAtWork(api.url),
    180_000,
    () => 'not ready',
  );
  return { worker, api };
}

async function post(url: string, token: string, body: object): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

/** A while of writing, querying and uploading, with `during` in the middle of it. */
async function load(url: string, key: string, during: () => Promise<unknown> = async () => {}): Promise<void> {
  const { id: workbookId = '' } = await post(`${url}/api/v1/workbooks`, key, { title: 'Upgrade' });
  await post(`${url}/api/v1/workbooks/${workbookId}/tables`, key, { name: 'numbers', columns: [{ name: 'n', type: 'BIGINT' }] });
  const running = startLoad({ url, key, workbookId, retries: false });
  const goOn = (uploads: number) =>
    waitUntil(
      () => running.uploads.length >= uploads || running.errors.length > 0,
      180_000,
      () => 'nothing goes on',
    );
  await goOn(2);
  await during();
  await goOn(running.uploads.length + 4);
  await running.stop();
  const failed = running.uploads.filter(({ status }) => status !== 'succeeded');
  if (running.errors.length + failed.length > 0) throw new Error(JSON.stringify([running.errors, failed], null, 2));
  console.log(`answered   ${running.acknowledged.size} edits, ${running.queries} queries, ${running.uploads.length} uploads, no error`);
}

async function migrate(services: OwnServices, dir: string): Promise<void> {
  if ((await (await start(services, dir, 'migrate')).ended) !== 0) throw new Error('the migration failed');
}

async function check(services: OwnServices): Promise<void> {
  const older = checkOut(services.root);
  await migrate(services, older);
  const before = await startPair(services, older);
  const person = { email: 'upgrade@example.com', password: 'correct horse battery', name: 'Upgrade' };
  const { session_token: session = '' } = await post(`${before.api.url}/api/auth/signup`, '', person);
  const wanted = { scopes: ['workbooks:read', 'workbooks:write'], rate_limit_per_minute: 10_000 };
  const { key = '' } = await post(`${before.api.url}/api/control/account/keys`, session, wanted);
  await load(before.api.url, key, () => migrate(services, projectDir));
  // Side by side: jobs of either API are worked on by either worker.
  const after = await startPair(services, projectDir);
  await load(before.api.url, key, () => load(after.api.url, key));
  await Promise.all([before.worker.stop(), before.api.stop()]);
  await load(after.api.url, key);
  await Promise.all([after.worker.stop(), after.api.stop()]);
}

try {
  await withServices(check);
  console.log(`From ${commit} to here without an error: 1 passed, 0 failed`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
