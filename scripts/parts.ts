import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { prepareConsoleBundle } from '../store/builds/consoleBundle.ts';
import { prepareChartBundle } from '../store/charts/program.ts';
import { configToEnv, inheritEnv } from '../store/childEnv.ts';
import { type Config, requireServices } from '../store/config.ts';
import { prepareChildBundle } from '../store/duckdb/sandbox/program.ts';
import { prepareFileBundle } from '../store/fileProcesses/program.ts';
import { bundleKindOf, prepareWorkflowBundle } from '../store/temporal/bundle.ts';
import { promoteBuild } from '../store/temporal/deployment.ts';
import { searchAttributeNames } from '../store/temporal/searchAttributes.ts';
import type { Addresses } from './banner.ts';
import { startBalancer } from './embedded/balancer.ts';
import { ensureBubblewrap } from './embedded/bubblewrap.ts';
import { startNodePart } from './embedded/nodePart.ts';
import { findFreePort } from './embedded/ports.ts';
import { startPostgres } from './embedded/postgres.ts';
import type { ProcessRegistry } from './embedded/processRegistry.ts';
import { setUpPython } from './embedded/python.ts';
import type { Output } from './embedded/report.ts';
import { writeRuntime } from './embedded/runtime.ts';
import { startS3 } from './embedded/s3.ts';
import { ensureSecrets } from './embedded/secrets.ts';
import { findTemporal, startTemporal } from './embedded/temporal.ts';
import type { FirstLogin } from './prepare.ts';
import type { Supervisor } from './supervise.ts';

/** The reaper last: it watches over the others. */
export const stopOrder = [
  ['balancer'],
  ['api', 'api-1', 'api-2'],
  ['worker', 'worker-1', 'worker-2'],
  ['temporal', 's3'],
  ['postgres'],
  ['reaper'],
];

interface StartOptions {
  config: Config;
  /** Two API processes behind a balancer and two workers, as on two machines, with storage that speaks S3. */
  isCluster: boolean;
  supervisor: Supervisor;
  registry: ProcessRegistry;
  report: Output;
  onPrepared(login: FirstLogin | null): void;
}

/** Starts everything in order and returns the addresses. */
export async function startParts(options: StartOptions): Promise<Addresses> {
  const { config, isCluster, supervisor, registry, report, onPrepared } = options;
  mkdirSync(join(config.dataDir, 'logs'), { recursive: true, mode: 0o700 });
  if (config.blobs.kind === 'file' && !isCluster) mkdirSync(config.blobs.dir, { recursive: true, mode: 0o700 });
  await supervisor.start({ name: 'reaper', needs: [], start: () => registry.startReaper() });

  // Nobody waits for it but the first Python transform.
  void setUpPython({ config, report, registry, signal: supervisor.signal });
  const [databaseUrl, temporal, blobs] = await Promise.all([
    config.databaseUrl ?? superviseDatabase(options),
    config.temporal.address ? config.temporal : superviseTemporal(options),
    isCluster && config.blobs.kind === 'file' ? superviseS3(options) : config.blobs,
    ensureBubblewrap({ report, registry, searchPath: config.machine.searchPath }),
    prepareWorkflowBundle(bundleKindOf(config)),
    prepareChildBundle(),
    prepareFileBundle(),
    prepareChartBundle(),
    prepareConsoleBundle(),
  ]);
  const secret = config.secret ?? ensureSecrets(config.dataDir).service;
  const complete = requireServices({ ...config, databaseUrl, temporal, blobs, secret });

  report.say('Preparing the database');
  const { prepare } = await import('./prepare.ts');
  // In a database that the user provides, no first account is created.
  onPrepared(await prepare(complete, { firstOwner: config.databaseUrl === null }));

  const machines = isCluster
    ? await Promise.all([1, 2].map((number) => planMachine(complete, number)))
    : [{ suffix: '', config: complete }];
  const startNode = (program: 'api' | 'worker', machine: Machine, needs: string[]) => {
    const { stop } = machine.config;
    const [name, env] = [`${program}${machine.suffix}`, inheritEnv(configToEnv(machine.config))];
    const limits = { stopWithinMs: stop.delayMs + stop.timeMs };
    return supervisor.start({ name, needs, start: (signal) => startNodePart({ name, program, env, ...limits, report, registry, signal }) });
  };
  // They wait for the database where they need it; the API says what is missing meanwhile.
  await Promise.all(machines.flatMap((machine) => [startNode('worker', machine, ['temporal']), startNode('api', machine, [])]));
  // There is no other release on this machine that could wait for it.
  await promoteBuild(complete.temporal, promoteWaitMs, supervisor.signal);
  const ports = isCluster ? machines.map((machine) => machine.config.port) : [];
  if (isCluster) {
    const { host, port } = config;
    await supervisor.start({ name: 'balancer', needs: [], start: () => startBalancer({ host, port, targets: ports }) });
  }

  const addresses = {
    apiUrl: config.publicUrl,
    behindUrls: ports.map((port) => `http://127.0.0.1:${port}`),
    temporalUiUrl: config.temporal.uiUrl,
    temporalAddress: complete.temporal.address,
  };
  writeRuntime(config.dataDir, { ...addresses, databaseUrl, credits: complete.credits });
  return { ...addresses, s3Url: blobs.kind === 's3' ? blobs.endpoint : null, dataDir: config.dataDir };
}

const promoteWaitMs = 60_000;

interface Machine {
  /** Of the names of its parts. */
  suffix: string;
  config: Config;
}

/** Longer than the balancer needs to notice. */
const stopDelayMs = 3_000;

/** One of the machines that a cluster seems to have: its own folder, its own port, behind a balancer. */
async function planMachine(config: Config, number: number): Promise<Machine> {
  return {
    suffix: `-${number}`,
    config: {
      ...config,
      dataDir: join(config.dataDir, `machine-${number}`),
      host: '127.0.0.1',
      port: await findFreePort(),
      trustedProxies: config.trustedProxies + 1,
      stop: { ...config.stop, delayMs: Math.max(config.stop.delayMs, stopDelayMs) },
    },
  };
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

async function superviseS3({ config, supervisor, registry, report }: StartOptions): Promise<Config['blobs']> {
  let blobs: Config['blobs'] = config.blobs;
  let port: number | undefined;
  report.say('Starting S3 storage');
  await supervisor.start({
    name: 's3',
    needs: [],
    logPath: join(config.dataDir, 'logs', 's3.log'),
    async start(signal) {
      const running = await startS3({ config, registry, port, signal });
      ({ blobs, port } = running);
      return running;
    },
  });
  return blobs;
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
