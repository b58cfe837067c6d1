import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inheritEnv } from '../../store/childEnv.ts';
import { type Config, projectDir } from '../../store/config.ts';
import { findProgram } from '../../store/findProgram.ts';
import { canConnect, findFreePort } from './ports.ts';
import { stopSteps } from './processes.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import type { RunningProcess } from './runningProcess.ts';
import { ensureSecrets } from './secrets.ts';
import { spawnServer } from './spawnServer.ts';

interface S3Options {
  config: Pick<Config, 'dataDir' | 'machine'>;
  registry: ProcessRegistry;
  /** The same as before, when it is started again. */
  port?: number;
  signal: AbortSignal;
}

type S3Config = Extract<Config['blobs'], { kind: 's3' }>;

const bucket = 'blobs';
const readyTimeoutMs = 30_000;

/** Storage that speaks S3, in the data dir: `versitygw` where it is on the PATH or in the user's cache, else the package `s3rver`. */
export async function startS3({
  config,
  registry,
  signal,
  ...options
}: S3Options): Promise<RunningProcess & { blobs: S3Config; port: number }> {
  const folder = join(config.dataDir, 's3');
  mkdirSync(join(folder, bucket), { recursive: true, mode: 0o700 });
  const port = options.port ?? (await findFreePort());
  const gateway = findProgram('versitygw', [...config.machine.searchPath, config.machine.cacheDir]);
  const keys = gateway ? { id: 'cluster', secret: ensureSecrets(config.dataDir).s3 } : { id: 'S3RVER', secret: 'S3RVER' };
  const running = spawnServer({
    name: 's3',
    program: gateway ?? process.execPath,
    args: gateway
      ? ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder]
      : [join(projectDir, 'scripts/embedded/s3rver.mjs'), folder, String(port), bucket],
    env: inheritEnv(gateway ? { ROOT_ACCESS_KEY: keys.id, ROOT_SECRET_KEY: keys.secret } : {}),
    logPath: join(config.dataDir, 'logs', 's3.log'),
    registry,
    order: 1,
    steps: stopSteps.helper,
    stepsAlone: stopSteps.helper,
  });
  let how: string | null = null;
  void running.ended.then((ending) => {
    how = ending;
  });
  for (const untilMs = Date.now() + readyTimeoutMs; !(await canConnect(port)); await delay(50)) {
    if (how === null && !signal.aborted && Date.now() < untilMs) continue;
    await running.stop();
    signal.throwIfAborted();
    throw new Error(`the S3 server did not start (${how ?? 'it does not answer'}):\n${running.readTail().join('\n')}`);
  }
  const blobs: S3Config = {
    kind: 's3',
    bucket,
    prefix: '',
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    accessKeyId: keys.id,
    secretAccessKey: keys.secret,
  };
  return { ...running, blobs, port };
}
