import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { provisionFirstOwner } from '../activities/identity/provisionFirstOwner.ts';
import { type RunningApi, startApi } from '../api/server.ts';
import { startPostgres } from '../scripts/embedded/postgres.ts';
import { createProcessRegistry } from '../scripts/embedded/processRegistry.ts';
import { createReport } from '../scripts/embedded/report.ts';
import { findTemporal, type RunningTemporal, startTemporal, type TemporalOptions } from '../scripts/embedded/temporal.ts';
import { prepareProgram } from '../store/builds/programs.mjs';
import { configToEnv, inheritEnv } from '../store/childEnv.ts';
import { loadConfig, loadServiceConfig, type ServiceConfig } from '../store/config.ts';
import { openDatabase } from '../store/pg/database.ts';
import { migrateDatabase } from '../store/pg/migrate.ts';
import { searchAttributeNames } from '../store/temporal/searchAttributes.ts';

/** What a benchmark runs against: a real API with a durable database, in a temporary folder. */
export interface BenchRig {
  config: ServiceConfig;
  url: string;
  token: string;
  /** Whose token it is, to log in to the console. */
  owner: { email: string; password: string };
  api: RunningApi;
  /** Set when the benchmark asked for workflows. */
  workerPid: number | null;
}

/** Its own process, so that peak memory is that of the work. */
interface BenchWorker {
  pid: number;
  stop(): Promise<void>;
}

export async function startWorkerProcess(config: ServiceConfig): Promise<BenchWorker> {
  const child = spawn(process.execPath, ['--enable-source-maps', await prepareProgram('worker')], {
    env: inheritEnv({ ...configToEnv({ ...config, logLevel: 'info' }), PORT: undefined }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('working')) break;
  if (child.exitCode !== null) throw new Error('the worker did not start');
  child.stdout.resume();
  return {
    pid: child.pid as number,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function withRig(
  work: (rig: BenchRig) => Promise<void>,
  options: { workflows: boolean; env?: Record<string, string> },
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const registry = createProcessRegistry(null);
  registry.removeAtEnd(dataDir);
  const reaper = await registry.startReaper();
  const report = createReport(process.stderr);
  const postgres = await startPostgres({ dataDir, report, registry });
  const temporal = options.workflows ? await startOwnTemporal({ dataDir, report, registry }) : null;
  try {
    const loaded = loadServiceConfig({
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal?.address ?? '127.0.0.1:1',
      SVC_SECRET: 'a secret that only the benchmark knows',
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'silent',
      SVC_RATE_LIMITS: 'off',
      ...options.env,
    });
    const config = { ...loaded, port: 0 };
    const db = openDatabase(postgres.url, { poolSize: 1, onError: () => {} });
    await migrateDatabase(db);
    await db.close();
    const api = await startApi(config);
    const owner = await provisionFirstOwner(api.services);
    if (!owner) throw new Error('the database was not empty');
    const worker = temporal && (await startWorkerProcess(config));
    try {
      await work({ config, url: `http://127.0.0.1:${api.port}`, token: owner.token, owner, api, workerPid: worker?.pid ?? null });
    } finally {
      // Whoever fails says so at once: PostgreSQL does not end while these are at work.
      await worker?.stop();
      await api.stop();
    }
  } finally {
    await temporal?.stop();
    await postgres.stop();
    await reaper.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function startOwnTemporal(common: Pick<TemporalOptions, 'dataDir' | 'report' | 'registry'>): Promise<RunningTemporal> {
  const config = loadConfig();
  const program = await findTemporal({ config, ...common });
  return startTemporal({ ...common, program, uiPort: null, namespace: config.temporal.namespace, searchAttributes: searchAttributeNames });
}
