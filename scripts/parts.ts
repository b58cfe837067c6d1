import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { prepareChartBundle } from '../store/charts/program.ts';
import { configToEnv, inheritEnv } from '../store/childEnv.ts';
import { type Config, requireServices } from '../store/config.ts';
import { prepareChildBundle } from '../store/duckdb/sandbox/program.ts';
import { prepareFileBundle } from '../store/fileProcesses/program.ts';
import { prepareWorkflowBundle } from '../store/temporal/bundle.ts';
import { searchAttributeNames } from '../store/temporal/searchAttributes.ts';
import type { Addresses } from './banner.ts';
import { ensureBubblewrap } from './embedded/bubblewrap.ts';
import { startNodePart } from './embedded/nodePart.ts';
import { startPostgres } from './embedded/postgres.ts';
import type { ProcessRegistry } from './embedded/processRegistry.ts';
import { setUpPython } from './embedded/python.ts';
import type { Output } from './embedded/report.ts';
import { writeRuntime } from './embedded/runtime.ts';
import { ensureSecrets } from './embedded/secrets.ts';
import { findTemporal, startTemporal } from './embedded/temporal.ts';
import type { FirstLogin } from './prepare.ts';
import type { Supervisor } from './supervise.ts';

/** The reaper last: it watches over the others. */
export const stopOrder = ['api', 'worker', 'temporal', 'postgres', 'reaper'];

interface StartOptions {
  config: Config;
  supervisor: Supervisor;
  registry: ProcessRegistry;
  report: Output;
  onPrepared(login: FirstLogin | null): void;
}

/** Starts everything in order and returns the addresses. */
export async function startParts(options: StartOptions): Promise<Addresses> {
  const { config, supervisor, registry, report, onPrepared } = options;
  mkdirSync(join(config.dataDir, 'logs'), { recursive: true, mode: 0o700 });
  if (config.blobs.kind === 'file') mkdirSync(config.blobs.dir, { recursive: true, mode: 0o700 });
  await supervisor.start({ name: 'reaper', needs: [], start: () => registry.startReaper() });

  // Nobody waits for it but the first Python transform.
  void setUpPython({ config, report, registry, signal: supervisor.signal });
  const [databaseUrl, temporal] = await Promise.all([
    config.databaseUrl ?? superviseDatabase(options),
    config.temporal.address ? config.temporal : superviseTemporal(options),
    ensureBubblewrap({ report, registry, searchPath: config.machine.searchPath }),
    prepareWorkflowBundle(),
    prepareChildBundle(),
    prepareFileBundle(),
    prepareChartBundle(),
  ]);
  const secret = config.secret ?? ensureSecrets(config.dataDir).service;
  const complete = requireServices({ ...config, databaseUrl, temporal, secret });

  report.say('Preparing the database');
  const { prepare } = await import('./prepare.ts');
  // In a database that the user provides, no first account is created.
  onPrepared(await prepare(complete, { firstOwner: config.databaseUrl === null }));

  const env = inheritEnv(configToEnv(complete));
  const startNode = (name: 'api' | 'worker', needs: string[]) =>
    supervisor.start({
      name,
      needs,
      start: (signal) => startNodePart({ name, env, report, registry, signal }),
    });
  // They wait for the database where they need it; the API says what is missing meanwhile.
  await Promise.all([startNode('worker', ['temporal']), startNode('api', [])]);

  const addresses = { apiUrl: config.publicUrl, temporalUiUrl: config.temporal.uiUrl, temporalAddress: complete.temporal.address };
  writeRuntime(config.dataDir, { ...addresses, databaseUrl, credits: complete.credits });
  return { ...addresses, dataDir: config.dataDir };
}

/** Restarts on the same port, so that its address stays valid for the other parts. */
async function superviseDatabase({ config: { dataDir }, supervisor, registry, report }: StartOptions): Promise<string> {
  let port: number | undefined;
  let url = '';
  report.say('Starting PostgreSQL');
  await supervisor.start({
    name: 'postgres',
    needs: [],
    logPath: join(dataDir, 'logs', 'postgres.log'),
    async start(signal) {
      const running = await startPostgres({ dataDir, report, registry, port, signal });
      ({ port, url } = running);
      return running;
    },
  });
  return url;
}

async function superviseTemporal({ config, supervisor, registry, report }: StartOptions): Promise<Config['temporal']> {
  const { dataDir, temporal } = config;
  const program = await findTemporal({ config, report, registry, signal: supervisor.signal });
  let port: number | undefined;
  let address = '';
  report.say('Starting Temporal');
  await supervisor.start({
    name: 'temporal',
    needs: [],
    logPath: join(dataDir, 'logs', 'temporal.log'),
    async start(signal) {
      const { uiPort, namespace } = temporal;
      const running = await startTemporal({
        program,
        dataDir,
        uiPort,
        namespace,
        searchAttributes: searchAttributeNames,
        report,
        registry,
        port,
        signal,
      });
      ({ port, address } = running);
      return running;
    },
  });
  // TLS and key are for a server elsewhere.
  return { ...temporal, address, tls: null, apiKey: null, cliPath: program };
}
