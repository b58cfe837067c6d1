import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../scripts/embedded/postgres.ts';
import { createProcessRegistry, type ProcessRegistry } from '../../scripts/embedded/processRegistry.ts';
import { createReport } from '../../scripts/embedded/report.ts';
import { startS3 } from '../../scripts/embedded/s3.ts';
import { findTemporal, startTemporal } from '../../scripts/embedded/temporal.ts';
import { loadConfig } from '../../store/config.ts';
import { searchAttributeNames } from '../../store/temporal/searchAttributes.ts';

/** PostgreSQL, Temporal and S3 for a script, in a folder that goes with it. */
export interface OwnServices {
  root: string;
  registry: ProcessRegistry;
  /** The variables that name them. */
  env: Record<string, string>;
}

export async function withServices(work: (services: OwnServices) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'svc-deploy-'));
  const registry = createProcessRegistry(null);
  registry.removeAtEnd(root);
  const reaper = await registry.startReaper();
  const stops = [() => reaper.stop()];
  try {
    const report = createReport(process.stderr);
    const config = { ...loadConfig(), dataDir: join(root, 'services') };
    const { dataDir } = config;
    const postgres = await startPostgres({ dataDir, report, registry });
    stops.push(() => postgres.stop());
    const program = await findTemporal({ config, report, registry });
    const { namespace } = config.temporal;
    const searchAttributes = searchAttributeNames;
    const temporal = await startTemporal({ program, dataDir, uiPort: null, namespace, searchAttributes, report, registry });
    stops.push(() => temporal.stop());
    const s3 = await startS3({ config, registry, signal: new AbortController().signal });
    stops.push(() => s3.stop());
    // Another user, as that of the image, may not reach the socket file.
    const database = new URL(postgres.url);
    database.searchParams.delete('host');
    const env = {
      SVC_SECRET: 'a secret of this run, which is long enough',
      DATABASE_URL: String(database),
      TEMPORAL_ADDRESS: temporal.address,
      BLOB_URL: `s3://${s3.blobs.bucket}`,
      S3_ENDPOINT: String(s3.blobs.endpoint),
      S3_ACCESS_KEY_ID: s3.blobs.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.blobs.secretAccessKey,
    };
    await work({ root, registry, env });
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Once it is ready and workers ask for tasks. */
export async function isAtWork(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => null);
  return answer?.status === 200 && (await answer.text()).includes('"workers":"ok"');
}
