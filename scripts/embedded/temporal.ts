import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { inheritEnvWithout } from '../../store/childEnv.ts';
import { canConnect, findFreePort } from './ports.ts';
import { stopSteps } from './processes.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import type { Report } from './report.ts';
import type { RunningProcess } from './runningProcess.ts';
import { spawnServer } from './spawnServer.ts';

export { findTemporal } from './temporalProgram.ts';

export interface TemporalOptions {
  program: string;
  dataDir: string;
  /** Null: no web page, and nothing is kept on disk, for tests. */
  uiPort: number | null;
  namespace: string;
  /** Known from the first moment; those that are missing are registered by whoever connects. */
  searchAttributes: string[];
  report: Report;
  registry: ProcessRegistry;
  /** The port of an earlier start, so that its address stays valid; a free one when not given. */
  port?: number;
  signal?: AbortSignal;
}

export interface RunningTemporal extends RunningProcess {
  address: string;
  port: number;
  uiUrl: string | null;
}

const readyTimeoutMs = 60_000;

/**
 * By default each part of the server's history looks for tasks twenty times a second. Clusters have thousands of parts, this
 * server has one: every step of every workflow would wait for the next twentieth of a second.
 */
const pollRates = ['transferProcessorMaxPollRPS', 'timerProcessorMaxPollRPS'];

/** A worker that has a workflow's task gets the activity that follows with the answer, instead of asking for it. */
const eagerActivities = 'system.enableActivityEagerExecution=true';

export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  const { uiPort, report, signal } = options;
  const storage = prepareStorage(options);
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await findFreePort());
    const running = spawnServer({
      name: 'temporal',
      program: options.program,
      args: [
        'server',
        'start-dev',
        '--ip',
        '127.0.0.1',
        '--port',
        String(port),
        '--namespace',
        options.namespace,
        '--log-level',
        'warn',
        ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
        ...pollRates.flatMap((name) => ['--dynamic-config-value', `history.${name}=1000`]),
        '--dynamic-config-value',
        eagerActivities,
        ...options.searchAttributes.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
        ...storage.args,
      ],
      // The program would take TEMPORAL_ADDRESS and the like for its own.
      env: inheritEnvWithout(['TEMPORAL_'], {}),
      logPath: join(options.dataDir, 'logs', 'temporal.log'),
      registry: options.registry,
      order: 1,
      steps: stopSteps.temporal,
      stepsAlone: stopSteps.temporalAlone,
    });
    const address = `127.0.0.1:${port}`;
    try {
      await waitUntilReady(running, address, options.namespace, report, signal);
    } catch (error) {
      await running.stop();
      // Someone else took the port between our looking and Temporal's listening.
      if (attempt < 5 && !options.port && running.readTail().some((line) => line.includes(`:${port}: bind: address already in use`)))
        continue;
      throw error;
    }
    storage.markComplete();
    return { ...running, address, port, uiUrl: uiPort === null ? null : `http://127.0.0.1:${uiPort}` };
  }
}

/**
 * The server makes its tables only when the file is missing, so a kill during the very first start would leave a file
 * that never works. A mark says that it has worked once; without the mark there is nothing in the file to lose.
 */
function prepareStorage({ uiPort, dataDir }: TemporalOptions): { args: string[]; markComplete(): void } {
  if (uiPort === null) return { args: [], markComplete: () => {} };
  const dir = join(dataDir, 'temporal');
  const file = join(dir, 'temporal.db');
  const mark = join(dir, 'complete');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (!existsSync(mark)) for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
  return {
    // A write-ahead log halves the time of a workflow's start and, with FULL, is as durable as the default.
    args: ['--db-filename', file, '--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=FULL'],
    markComplete: () => writeFileSync(mark, ''),
  };
}

async function waitUntilReady(
  running: RunningProcess,
  address: string,
  namespace: string,
  report: Report,
  signal?: AbortSignal,
): Promise<void> {
  let how: string | null = null;
  void running.ended.then((ending) => {
    how = ending;
  });
  const beganMs = Date.now();
  for (;;) {
    const problem = await tryNamespace(address, namespace);
    if (problem === null) return;
    signal?.throwIfAborted();
    if (how !== null) throw new Error(`Temporal ended while starting (${how}):\n${running.readTail().join('\n')}`);
    const elapsedMs = Date.now() - beganMs;
    if (elapsedMs > readyTimeoutMs) throw new Error(`Temporal does not answer after ${readyTimeoutMs / 1000} s: ${problem}`);
    if (elapsedMs > 3000) report.progress(`Waiting for Temporal, ${Math.round(elapsedMs / 1000)} s`);
    await delay(50);
  }
}

async function tryNamespace(address: string, namespace: string): Promise<string | null> {
  // The client waits a second before it dials again, so look first whether anyone listens.
  if (!(await canConnect(Number(new URL(`tcp://${address}`).port)))) return 'nobody listens';
  let connection: Connection | null = null;
  try {
    connection = await Connection.connect({ address, connectTimeout: 1000 });
    const within = connection;
    await connection.withDeadline(Date.now() + 2000, () => within.workflowService.describeNamespace({ namespace }));
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await connection?.close().catch(() => {});
  }
}
