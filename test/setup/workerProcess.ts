import { type ChildProcess, spawn } from 'node:child_process';
import { formatAllowedTarget } from '../../core/outbound/allowedTarget.ts';
import { nodeFlags } from '../../scripts/embedded/nodePart.ts';
import { prepareProgram } from '../../store/builds/programs.mjs';
import { inheritEnvWithout } from '../../store/childEnv.ts';
import { projectDir, type ServiceConfig } from '../../store/config.ts';
import { variableNames } from '../../store/variables.ts';

/** The worker as a process of its own, for tests that kill it or read its log. */
export interface WorkerProcess {
  child: ChildProcess;
  /** All that it has written so far, to either stream. */
  output(): string;
  ended: Promise<void>;
}

/** What a process needs to be part of the same installation. */
export function environmentOf(config: ServiceConfig): Record<string, string> {
  return {
    DATABASE_URL: config.databaseUrl,
    SVC_DATA_DIR: config.dataDir,
    SVC_SECRET: config.secret,
    SVC_LOG_LEVEL: 'silent',
    SVC_RATE_LIMITS: 'off',
    SVC_CREDITS: config.credits,
    SVC_OUTBOUND_ALLOW: config.outbound.allowed.map(formatAllowedTarget).join(','),
    TEMPORAL_ADDRESS: config.temporal.address,
    TEMPORAL_TASK_QUEUE: config.temporal.taskQueue,
  };
}

export async function startWorkerProcess(config: ServiceConfig, env: Record<string, string> = {}): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [...nodeFlags, await prepareProgram('worker')], {
    cwd: projectDir,
    // The channel makes it stop should this test process be killed.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: inheritEnvWithout([...variableNames, 'VITEST', 'NODE_ENV', 'NODE_OPTIONS'], { ...environmentOf(config), ...env }),
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const ready = new Promise<boolean>((done) => child.once('message', () => done(true)));
  if (!(await Promise.race([ready, ended.then(() => false)]))) throw new Error(`the worker did not start:\n${text}`);
  return { child, output: () => text, ended };
}
