import { mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { isRunning } from '../../scripts/embedded/processes.ts';
import {
  findReaper,
  findSurvivors,
  hasEnded,
  type Product,
  type ProductOptions,
  readProcesses,
  readRuntimeFile,
  snapshotTree,
  startProduct,
  waitForOutput,
  waitForReady,
  waitUntil,
} from './product.ts';
import { lookInto, workingEnv } from './rounds/installation.ts';
import { runRounds } from './rounds/rounds.ts';
import { kills } from './rounds/strikes.ts';

// A start is a few seconds on an idle machine and a minute on a busy one.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const temporalCli = inject('temporalCli');
const folders: string[] = [];
const products: Product[] = [];

async function makeFolder(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'svc-test-runtime-')));
  folders.push(dir);
  return dir;
}

async function start(options: Omit<ProductOptions, 'temporalCli'>): Promise<Product> {
  const product = await startProduct({ temporalCli, ...options });
  products.push(product);
  return product;
}

async function startReady(dataDir: string, env: Record<string, string> = {}): Promise<Product> {
  const product = await start({ dataDir, env });
  await waitForOutput(product, 'The service is running.', 0, 150_000);
  await waitForReady(product);
  return product;
}

async function query(product: Product, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: readRuntimeFile(product).databaseUrl, options: '-c svc.accounts=*' });
  await client.connect();
  return client
    .query(sql)
    .then(({ rows }) => rows as unknown[])
    .finally(() => client.end());
}

function killHard(pid: number | undefined): void {
  if (!pid) throw new Error('no such process');
  process.kill(pid, 'SIGKILL');
}

async function expectNothingLeft(dataDir: string, seen: Map<number, string>): Promise<void> {
  await waitUntil(
    () => findSurvivors(dataDir, seen).length === 0,
    60_000,
    () => `still there:\n${findSurvivors(dataDir, seen).join('\n')}`,
  );
}

afterAll(async () => {
  for (const product of products) if (!hasEnded(product)) product.child.kill('SIGTERM');
  await Promise.all(products.map(({ exited }) => exited));
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 20 });
});

describe('a running service', () => {
  let dataDir: string;
  let product: Product;

  beforeAll(async () => {
    dataDir = await makeFolder();
    product = await startReady(dataDir, workingEnv);
  });

  test('says where everything is and, the first time, how to get in', () => {
    const said = product.output();
    expect(said).toContain(`API             ${product.apiUrl}\n`);
    expect(said).toContain(`Reference       ${product.apiUrl}/docs\n`);
    expect(said).toContain(`Temporal        http://127.0.0.1:${product.uiPort}\n`);
    expect(said).toMatch(/curl -H "Authorization: Bearer svc_pat_\S+" \S+\/api\/v1\/me/);
  });

  test('shows the page of Temporal', async () => {
    const page = await fetch(`http://127.0.0.1:${product.uiPort}`);
    expect(page.status).toBe(200);
  });

  test('keeps its data dir to itself and says who holds it', async () => {
    const second = await start({ dataDir });
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(`is in use by another copy of the service (pid ${product.child.pid})`);
    expect(second.output()).toContain('SVC_DATA_DIR');
  });

  test.each([
    ['PORT', 'port'],
    ['TEMPORAL_UI_PORT', 'uiPort'],
  ] as const)('says plainly that %s is in use', async (variable, key) => {
    const second = await start({ dataDir: await makeFolder(), [key]: product[key] });
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(`Port ${product[key]} on 127.0.0.1 is in use by another program. Set ${variable} to a free port`);
  });

  test('keeps the first token in a file for its owner alone', async () => {
    const path = join(dataDir, 'first-token');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const token = (await readFile(path, 'utf8')).trim();
    expect(product.output()).toContain(`Bearer ${token}"`);
    const me = await fetch(`${product.apiUrl}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } });
    expect(me.status).toBe(200);
  });

  test('runs beside another copy, which writes JSON lines and nothing else', async () => {
    const other = await startReady(await makeFolder(), { SVC_LOG_FORMAT: 'json' });
    expect(other.output()).not.toContain('Port');
    const token = (await readFile(join(other.dataDir, 'first-token'), 'utf8')).trim();
    const seen = snapshotTree(other);
    killHard(readProcesses(other).get('worker')?.pid);
    await waitForOutput(other, 'worker is running again');
    other.child.kill('SIGTERM');
    expect(await other.exited).toBe(0);
    await expectNothingLeft(other.dataDir, seen);
    const lines = other.output().split('\n').slice(0, -1);
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const entry of entries)
      expect(entry).toMatchObject({ level: expect.any(Number), time: expect.any(String), msg: expect.any(String) });
    expect(new Set(entries.map(({ part }) => part))).toEqual(new Set(['start', 'api', 'worker']));
    expect(entries).toContainEqual(expect.objectContaining({ msg: 'The service is running.', apiUrl: other.apiUrl }));
    expect(entries).toContainEqual(expect.objectContaining({ email: 'owner@localhost', tokenPath: join(other.dataDir, 'first-token') }));
    expect(entries).toContainEqual(expect.objectContaining({ level: 40, msg: 'worker ended (SIGKILL); starting it again' }));
    expect(other.output()).not.toContain(token);
    await waitForReady(product);
  });

  test.each(['postgres', 'temporal', 'api', 'worker'])('notices, says and mends a killed %s', async (name) => {
    const addresses = readRuntimeFile(product);
    const before = readProcesses(product).get(name)?.pid;
    const from = product.output().length;
    killHard(before);
    await waitForOutput(product, `${name} ended (SIGKILL); starting it again`, from);
    await waitForOutput(product, `${name} is running again`, from);
    await waitForReady(product);
    expect(readProcesses(product).get(name)?.pid).not.toBe(before);
    expect(readRuntimeFile(product)).toEqual(addresses);
  });

  test('mends all of them, killed at the same time', async () => {
    const names = ['postgres', 'temporal', 'api', 'worker'];
    const before = readProcesses(product);
    const from = product.output().length;
    for (const name of names) killHard(before.get(name)?.pid);
    for (const name of names) await waitForOutput(product, `${name} is running again`, from);
    await waitForReady(product);
    // Each was started once: none died again for lack of another.
    const said = product.output().slice(from);
    expect(said.match(/starting it again/g)).toHaveLength(names.length);
  });

  // The short form of `npm run faults`.
  test('loses nothing of what people do meanwhile, and does nothing twice', async () => {
    const report = await runRounds(await lookInto(product), [kills(5), kills(0)], () => {});
    expect(report.faults).toEqual([]);
    for (const count of Object.values(report.done)) expect(count).toBeGreaterThan(0);
  });

  test('notices, says and mends a killed reaper', async () => {
    const from = product.output().length;
    killHard(findReaper(product));
    await waitForOutput(product, 'reaper ended (SIGKILL); starting it again', from);
    await waitForOutput(product, 'reaper is running again', from);
    expect(findReaper(product)).toBeGreaterThan(0);
  });

  test('stops everything on SIGINT, and the next start finds the data', async () => {
    await query(product, 'create table kept as select 42 as answer');
    const seen = snapshotTree(product);
    expect(seen.size).toBeGreaterThan(6);
    product.child.kill('SIGINT');
    expect(await product.exited).toBe(0);
    await expectNothingLeft(dataDir, seen);

    product = await startReady(dataDir);
    expect(await query(product, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(product.output()).not.toContain('This is the first start');
  });

  test('leaves nothing behind when the supervisor is killed, and starts again', async () => {
    // A reaper that has only just been started knows what to do as well.
    const from = product.output().length;
    killHard(findReaper(product));
    await waitForOutput(product, 'reaper is running again', from);
    const seen = snapshotTree(product);
    killHard(product.child.pid);
    await product.exited;
    await expectNothingLeft(dataDir, seen);
    product = await startReady(dataDir);
    expect(await query(product, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('ends what is left when supervisor and reaper were both killed', async () => {
    const seen = snapshotTree(product);
    const postgres = readProcesses(product).get('postgres')?.pid;
    const reaper = findReaper(product);
    killHard(reaper);
    killHard(product.child.pid);
    await product.exited;
    product = await startReady(dataDir);
    expect(product.output()).toContain(`postgres (pid ${postgres}) is left over from an earlier run; stopping it`);
    expect([...seen].filter(([pid, stamp]) => stamp !== '' && snapshotTree(product).get(pid) === stamp)).toEqual([]);
    expect(await query(product, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('gives up, and stops everything, when a part dies too often', async () => {
    const seen = new Map<number, string>();
    while (!hasEnded(product) && !product.output().includes('Stopping everything')) {
      for (const [pid, stamp] of snapshotTree(product)) seen.set(pid, stamp);
      const worker = readProcesses(product).get('worker');
      // It may have been killed before, and the list not written anew yet.
      if (worker && isRunning(worker.pid, worker.stamp)) killHard(worker.pid);
      await delay(100);
    }
    expect(await product.exited).toBe(1);
    expect(product.output()).toContain('worker ended 6 times within a minute');
    await expectNothingLeft(dataDir, seen);
  });
});
