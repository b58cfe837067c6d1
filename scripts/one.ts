import { spawn } from 'node:child_process';
import { prepareProgram } from '../store/builds/programs.mjs';
import { configToEnv, inheritEnv } from '../store/childEnv.ts';
import { type Config, loadConfig, requireServices, wantsJson } from '../store/config.ts';
import { describeError } from '../store/lifecycle.ts';
import { readLines } from './embedded/command.ts';
import { nodeFlags } from './embedded/nodePart.ts';
import { openOutput } from './embedded/report.ts';
import { readRuntime } from './embedded/runtime.ts';
import { readServiceSecret } from './embedded/secrets.ts';

/** `npm run api` and `npm run worker`: one part alone, against the variables or beside a running `npm start`. */
const report = openOutput();
const fail = (why: string) => (wantsJson() ? report.say(why, 'error') : console.error(why));

async function runOne(name: string | undefined): Promise<void> {
  if (name !== 'api' && name !== 'worker') throw new Error('Say which part to run: api or worker');
  const config = completeConfig(loadConfig());
  const child = spawn(process.execPath, [...nodeFlags, await prepareProgram(name)], {
    // What libraries write is not JSON.
    stdio: wantsJson() ? ['inherit', 'pipe', 'pipe', 'ipc'] : ['inherit', 'inherit', 'inherit', 'ipc'],
    env: inheritEnv(configToEnv(config)),
  });
  for (const stream of [child.stdout, child.stderr]) if (stream) readLines(stream, (line) => report.passOn(name, line));
  // The terminal signals both of us; a signal to us alone is passed on. runService takes a second one calmly.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal));
  child.on('message', () =>
    report.say(
      name === 'api' ? `The API is running at ${config.publicUrl}` : `The worker is running on task queue ${config.temporal.taskQueue}`,
    ),
  );
  child.on('close', (code, signal) => {
    if (signal) fail(`${name} ended (${signal})`);
    process.exit(code ?? 1);
  });
}

function completeConfig(config: Config): Config {
  const runtime = config.databaseUrl && config.temporal.address ? null : readRuntime(config.dataDir);
  const completed: Config = {
    ...config,
    databaseUrl: config.databaseUrl ?? runtime?.databaseUrl ?? null,
    temporal: config.temporal.address
      ? config.temporal
      : { ...config.temporal, address: runtime?.temporalAddress ?? null, ...(runtime ? { tls: null, apiKey: null } : {}) },
    credits: config.credits ?? runtime?.credits ?? null,
    secret: config.secret ?? readServiceSecret(config.dataDir),
  };
  try {
    return requireServices(completed);
  } catch (error) {
    throw new Error(
      `${describeError(error)}\nSet what is missing, or run \`npm start\` on the same data dir (${config.dataDir}), whose addresses are then used.`,
    );
  }
}

try {
  await runOne(process.argv[2]);
} catch (error) {
  fail(describeError(error));
  process.exit(1);
}
