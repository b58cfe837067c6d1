import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isRunning } from '../../../scripts/embedded/processes.ts';
import { hasEnded, type Product, readProcesses, readRuntimeFile, startProduct, waitForOutput, waitForReady } from '../product.ts';

export const parts = ['api', 'worker', 'postgres', 'temporal'] as const;
export type PartName = (typeof parts)[number];

/** The product as people start it, with what is needed to harm it and to look behind it. */
export interface Installation {
  product: Product;
  /** Of the first owner. */
  session: string;
  /** kill -9. */
  kill(name: PartName): void;
  /** Whether the part may die again: the product gives up when one dies too often within a minute. */
  mayDie(name: PartName): boolean;
  /** Nobody starts the part again until the time is over. */
  keepAway(name: PartName, ms: number): Promise<void>;
  /** Milliseconds until everything is ready again; null: not within two minutes. */
  waitUntilReady(): Promise<number | null>;
  /** Straight to the database. */
  ask<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
}

export interface InstallationOptions {
  env?: Record<string, string>;
  /** Instead of a new folder that goes when the installation is closed. */
  dataDir?: string;
}

/** Fewer than what the product bears: a part may die once more for lack of another. */
const mostDeaths = 3;

/** What those who are told of events need, and those who work all the time. */
export const workingEnv = {
  SVC_LOG_LEVEL: 'warn',
  SVC_RATE_LIMITS: 'off',
  SVC_OUTBOUND_ALLOW: '127.0.0.1',
  SVC_WEBHOOK_DELAYS: Array(60).fill('500ms').join(','),
};

export async function startInstallation(options: InstallationOptions = {}): Promise<Installation & { close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-faults-'));
  const product = await startProduct({
    dataDir: options.dataDir ?? join(folder, 'data'),
    temporalCli: process.env.TEMPORAL_CLI ?? '',
    env: { ...workingEnv, ...options.env },
  });
  await waitForOutput(product, 'The service is running.', 0, 600_000);
  await waitForReady(product);
  return {
    ...(await lookInto(product)),
    async close() {
      product.child.kill('SIGTERM');
      await product.exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

export async function lookInto(product: Product): Promise<Installation> {
  const deaths: { name: PartName; at: number }[] = [];
  const kill = (name: PartName) => {
    const pid = readProcesses(product).get(name)?.pid;
    if (pid) process.kill(pid, 'SIGKILL');
    deaths.push({ name, at: Date.now() });
  };
  const isAlive = (name: PartName) => {
    const tracked = readProcesses(product).get(name);
    return tracked !== undefined && isRunning(tracked.pid, tracked.stamp);
  };
  return {
    product,
    session: await logIn(product),
    kill,
    mayDie: (name) => deaths.filter((death) => death.name === name && death.at > Date.now() - 70_000).length < mostDeaths,
    async keepAway(name, ms) {
      product.child.kill('SIGSTOP');
      kill(name);
      await delay(ms);
      product.child.kill('SIGCONT');
    },
    async waitUntilReady() {
      const started = performance.now();
      while (performance.now() - started < 120_000) {
        const answer = await fetch(`${product.apiUrl}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
        if (answer?.status === 200 && parts.every(isAlive)) return performance.now() - started;
        if (hasEnded(product)) return null;
        await delay(25);
      }
      return null;
    },
    async ask<Row>(sql: string, values: unknown[] = []) {
      const client = new pg.Client({ connectionString: readRuntimeFile(product).databaseUrl, options: '-c svc.accounts=*' });
      await client.connect();
      return client
        .query(sql, values)
        .then(({ rows }) => rows as Row[])
        .finally(() => client.end());
    },
  };
}

async function logIn(product: Product): Promise<string> {
  const password = (await readFile(join(product.dataDir, 'first-password'), 'utf8')).trim();
  const answer = await fetch(`${product.apiUrl}/api/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'owner@localhost', password }),
  });
  return String(((await answer.json()) as { session_token: string }).session_token);
}
