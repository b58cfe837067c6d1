import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../scripts/embedded/ports.ts';
import { inheritEnvWithout } from '../store/childEnv.ts';
import { projectDir } from '../store/config.ts';
import { variableNames } from '../store/variables.ts';
import type { Service } from './client.ts';

/** The whole product, as `npm start` starts it, on free ports and with data of its own, which go when it is stopped. */
export async function startService(dataDir: string): Promise<Service & { stop(): Promise<void> }> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [join(projectDir, 'scripts/start.mjs')], {
    cwd: projectDir,
    // The channel makes it stop should this process be killed.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: inheritEnvWithout(variableNames, {
      SVC_DATA_DIR: dataDir,
      PORT: String(port),
      TEMPORAL_UI_PORT: String(await findFreePort()),
      TEMPORAL_CLI: process.env.TEMPORAL_CLI,
    }),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(dataDir, { recursive: true, force: true });
  };
  while (!said.includes('The service is running.')) {
    if (child.exitCode !== null) throw new Error(`the service did not start:\n${said}`);
    await delay(100);
  }
  return { url: `http://127.0.0.1:${port}`, token: (await readFile(join(dataDir, 'first-token'), 'utf8')).trim(), stop };
}
