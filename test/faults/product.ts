import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { isRunning, readStamp } from '../../scripts/embedded/processes.ts';
import type { Tracked } from '../../scripts/embedded/processRegistry.ts';
import type { Runtime } from '../../scripts/embedded/runtime.ts';
import { inheritEnvWithout } from '../../store/childEnv.ts';
import { projectDir } from '../../store/config.ts';
import { variableNames } from '../../store/variables.ts';

/** The product as people start it, in real processes. */
export interface Product {
  child: ChildProcess;
  dataDir: string;
  apiUrl: string;
  port: number;
  uiPort: number;
  /** All that was said so far. */
  output(): string;
  exited: Promise<number | null>;
}

export interface ProductOptions {
  dataDir: string;
  temporalCli: string;
  port?: number;
  uiPort?: number;
  env?: Record<string, string>;
  /** As `npm run cluster` does. */
  isCluster?: boolean;
}

export async function startProduct({ dataDir, temporalCli, env, isCluster = false, ...ports }: ProductOptions): Promise<Product> {
  const port = ports.port ?? (await findFreePort());
  const uiPort = ports.uiPort ?? (await findFreePort());
  const child = spawn(process.execPath, [join(projectDir, 'scripts/start.mjs'), ...(isCluster ? ['cluster'] : [])], {
    // The channel makes it stop should this test process be killed.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: inheritEnvWithout([...variableNames, 'VITEST', 'NODE_ENV', 'NODE_OPTIONS'], {
      SVC_DATA_DIR: dataDir,
      PORT: String(port),
      TEMPORAL_UI_PORT: String(uiPort),
      TEMPORAL_CLI: temporalCli || undefined,
      ...env,
    }),
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  const exited = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  return {
    child,
    dataDir: isCluster ? join(dataDir, 'cluster') : dataDir,
    port,
    uiPort,
    apiUrl: `http://127.0.0.1:${port}`,
    output: () => text,
    exited,
  };
}

export function hasEnded({ child }: Product): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits for something said after the first `from` characters of the output. */
export async function waitForOutput(product: Product, wanted: string, from = 0, timeoutMs = 150_000): Promise<void> {
  await waitUntil(
    () => {
      if (product.output().slice(from).includes(wanted)) return true;
      if (hasEnded(product)) throw new Error(`ended before it said "${wanted}":\n${product.output()}`);
      return false;
    },
    timeoutMs,
    () => `it never said "${wanted}":\n${product.output()}`,
  );
}

export async function waitForReady(product: Product): Promise<void> {
  await waitUntil(
    async () => {
      const answer = await fetch(`${product.apiUrl}/readyz`, { signal: AbortSignal.timeout(5000) }).catch(() => null);
      return answer?.status === 200;
    },
    150_000,
    () => `never ready:\n${product.output()}`,
  );
}

export async function waitUntil(check: () => boolean | Promise<boolean>, timeoutMs: number, explain: () => string): Promise<void> {
  for (const untilMs = Date.now() + timeoutMs; !(await check()); await delay(50)) {
    if (Date.now() > untilMs) throw new Error(`after ${timeoutMs / 1000} s: ${explain()}`);
  }
}

/** What the supervisor has started, by name; the reaper is not in its own list. */
export function readProcesses(product: Product): Map<string, Tracked> {
  const tracked = JSON.parse(readFileSync(join(product.dataDir, 'processes.json'), 'utf8')) as Tracked[];
  return new Map(tracked.map((each) => [each.name, each]));
}

export function readRuntimeFile(product: Product): Runtime {
  return JSON.parse(readFileSync(join(product.dataDir, 'runtime.json'), 'utf8')) as Runtime;
}

export function findReaper(product: Product): number {
  return listProcesses().find((pid) => readParent(pid) === product.child.pid && readCommand(pid).includes('reaper.mjs')) ?? 0;
}

/**
 * Everything alive that belongs to the product: its processes and their descendants, remembered by `seen` from before;
 * whoever else has its data dir in the environment; and PostgreSQL's, which live in the folder of the cluster.
 */
export function findSurvivors(dataDir: string, seen: Map<number, string>): string[] {
  const remembered = [...seen].filter(([pid, stamp]) => isRunning(pid, stamp)).map(([pid]) => pid);
  const related = listProcesses().filter(
    (pid) => readStamp(pid) !== null && (readFolder(pid).startsWith(dataDir) || readEnvironment(pid).includes(`SVC_DATA_DIR=${dataDir}`)),
  );
  const inGroups = listProcesses().filter((pid) => seen.has(readGroup(pid)) && readStamp(pid) !== null);
  return [...new Set([...remembered, ...related, ...inGroups])].map((pid) => `${pid} ${readCommand(pid)}`);
}

/** The product's whole tree of processes, with what tells them from later ones of the same id. */
export function snapshotTree(product: Product): Map<number, string> {
  const parents = new Map(listProcesses().map((pid) => [pid, readParent(pid)]));
  const tree = new Set([product.child.pid ?? 0]);
  for (let size = 0; size !== tree.size; ) {
    size = tree.size;
    for (const [pid, parent] of parents) if (tree.has(parent)) tree.add(pid);
  }
  return new Map([...tree].map((pid) => [pid, readStamp(pid) ?? '']));
}

function listProcesses(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid);
}

function readStat(pid: number): string[] {
  const stat = readProc(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readParent(pid: number): number {
  return Number(readStat(pid)[1]);
}

function readGroup(pid: number): number {
  return Number(readStat(pid)[2]);
}

function readCommand(pid: number): string {
  return readProc(pid, 'cmdline').replaceAll('\0', ' ').trim();
}

function readEnvironment(pid: number): string[] {
  return readProc(pid, 'environ').split('\0');
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function readFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
