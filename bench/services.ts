import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provisionFirstOwner } from '../activities/identity/provisionFirstOwner.ts';
import { type RunningApi, startApi } from '../api/server.ts';
import { createKeeper } from '../scripts/embedded/keeper.ts';
import { startPostgres } from '../scripts/embedded/postgres.ts';
import { createReport } from '../scripts/embedded/report.ts';
import { loadServiceConfig, type ServiceConfig } from '../store/config.ts';
import { openDatabase } from '../store/pg/database.ts';
import { migrateDatabase } from '../store/pg/migrate.ts';

/** What a benchmark runs against: a real API over a real, durable database, in a folder that is removed. */
export interface BenchRig {
  config: ServiceConfig;
  url: string;
  token: string;
  api: RunningApi;
}

export async function withRig(work: (rig: BenchRig) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const keeper = createKeeper(null);
  keeper.removeAtEnd(dataDir);
  const reaper = await keeper.startReaper();
  const postgres = await startPostgres({ dataDir, report: createReport(process.stderr), keeper });
  try {
    const loaded = loadServiceConfig({
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      SVC_SECRET: 'a secret that only the benchmark knows',
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'silent',
      SVC_RATE_LIMITS: 'off',
    });
    const config = { ...loaded, port: 0 };
    const db = openDatabase(postgres.url, { poolSize: 1, onError: () => {} });
    await migrateDatabase(db);
    await db.close();
    const api = await startApi(config);
    const owner = await provisionFirstOwner(api.services);
    if (!owner) throw new Error('the database was not empty');
    await work({ config, url: `http://127.0.0.1:${api.port}`, token: owner.token, api });
    await api.stop();
  } finally {
    await postgres.stop();
    await reaper.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
