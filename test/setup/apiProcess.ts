import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import { nodeFlags } from '../../scripts/embedded/nodePart.ts';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { prepareProgram } from '../../store/builds/programs.mjs';
import { inheritEnvWithout } from '../../store/childEnv.ts';
import { projectDir } from '../../store/config.ts';
import { variableNames } from '../../store/variables.ts';

/** The API as a process of its own, for tests that kill things or read what is written to standard output. */
export interface ApiProcess {
  url: string;
  port: number;
  child: ChildProcess;
  /** All that it has written so far, to either stream. */
  output(): string;
  ended: Promise<void>;
  stop(): Promise<void>;
}

export async function startApiProcess(env: Record<string, string>): Promise<ApiProcess> {
  const port = Number(env.PORT ?? (await findFreePort()));
  const child = spawn(process.execPath, [...nodeFlags, await prepareProgram('api')], {
    cwd: projectDir,
    // The channel makes it stop should this test process be killed.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: inheritEnvWithout([...variableNames, 'VITEST', 'NODE_ENV', 'NODE_OPTIONS'], {
      SVC_LOG_LEVEL: 'silent',
      SVC_SECRET: 'a secret that only the tests know, long enough',
      SVC_DATA_DIR: join(inject('dataDir'), `api-${port}`),
      ...env,
      PORT: String(port),
    }),
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const ready = new Promise<boolean>((done) => child.once('message', () => done(true)));
  if (!(await Promise.race([ready, ended.then(() => false)]))) throw new Error(`the API did not start:\n${text}`);
  const url = `http://127.0.0.1:${port}`;
  // It listens before all that a request needs is there.
  for (const untilMs = Date.now() + 120_000; (await fetch(`${url}/readyz`)).status !== 200; await delay(50))
    if (Date.now() > untilMs) throw new Error(`the API never was ready:\n${text}`);
  return {
    url,
    port,
    child,
    output: () => text,
    ended,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
