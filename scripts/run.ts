import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, ConfigError, loadConfig } from '../store/config.ts';
import { describeError } from '../store/lifecycle.ts';
import { describeFirstLogin, describeRunning } from './banner.ts';
import { takeLock } from './embedded/lock.ts';
import { assertPortFree } from './embedded/ports.ts';
import { createProcessRegistry, stopLeftovers } from './embedded/processRegistry.ts';
import { type Output, openOutput } from './embedded/report.ts';
import { removeRuntime } from './embedded/runtime.ts';
import { startParts, stopOrder } from './parts.ts';
import type { FirstLogin } from './prepare.ts';
import { listenForStop } from './stopSignals.ts';
import { createSupervisor } from './supervise.ts';

const prepareTimeoutMs = 10_000;

/** What `npm start` and `npm run cluster` do once the dependencies are there: everything up, supervised, until told to stop. */
async function run(report: Output, isCluster: boolean): Promise<number> {
  const asSet = loadConfig();
  const config: Config = {
    ...asSet,
    // Nobody pays for their own machine.
    credits: asSet.credits ?? 'unlimited',
    // A cluster keeps its files in S3, so it has a database of its own.
    dataDir: isCluster ? join(asSet.dataDir, 'cluster') : asSet.dataDir,
  };
  const release = takeLock(config.dataDir);
  const recordPath = `${config.dataDir}/processes.json`;
  const supervisor = createSupervisor(report);
  const asked = listenForStop(report, () => supervisor.kill());
  let code = 0;
  let firstLogin: FirstLogin | null = null;
  let started: Promise<unknown> | null = null;
  try {
    await stopLeftovers(recordPath, report.say);
    await assertPortsFree(config);
    const registry = createProcessRegistry(recordPath);
    const starting = startParts({
      config,
      isCluster,
      supervisor,
      registry,
      report,
      onPrepared: (login) => {
        firstLogin = login;
      },
    });
    started = starting;
    const ending = Promise.race([asked, supervisor.gaveUp.then((why) => new Error(why))]);
    const first = await Promise.race([starting, ending]);
    if (first && 'apiUrl' in first) {
      report.show(describeRunning(first), { msg: 'The service is running.', ...first });
      showFirstLogin(report, first.apiUrl, firstLogin);
      report.show(['Ctrl-C stops all of it.', ''], { msg: 'SIGTERM stops all of it.' });
      firstLogin = null;
    }
    const why = first && 'apiUrl' in first ? await ending : first;
    if (why instanceof Error) throw why;
    report.say('Stopping (a second Ctrl-C stops hard)');
  } catch (error) {
    report.say(`\n${error instanceof ConfigError ? error.message : describeError(error)}`, 'error');
    if (started) report.say('Stopping everything');
    code = 1;
  }
  // A migration that is under way is finished while the database is still running.
  supervisor.halt();
  await Promise.race([started?.catch(() => {}), delay(prepareTimeoutMs)]);
  // It is shown only once, so a failure after it was made must not swallow it.
  showFirstLogin(report, config.publicUrl, firstLogin);
  await supervisor.stop(stopOrder);
  removeRuntime(config.dataDir);
  release();
  if (started) report.say(code === 0 ? 'Stopped; the next start finds all data' : 'Stopped');
  return code;
}

/** A log is read by many, so it is told the file that keeps the token. */
function showFirstLogin(report: Output, apiUrl: string, login: FirstLogin | null): void {
  if (login)
    report.show(describeFirstLogin(apiUrl, login), { msg: 'A first owner was made.', email: login.email, tokenPath: login.tokenPath });
}

async function assertPortsFree(config: Config): Promise<void> {
  const { host, port, temporal } = config;
  await assertPortFree('PORT', host, port);
  if (temporal.address) return;
  if (temporal.uiPort === port) throw new Error(`PORT and TEMPORAL_UI_PORT are both ${port}; they must differ.`);
  await assertPortFree('TEMPORAL_UI_PORT', '127.0.0.1', temporal.uiPort);
}

const report = openOutput();
// A closed terminal makes writes fail; that must not keep us from stopping the others.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
const code = await run(report, process.argv[2] === 'cluster').catch((error: unknown) => {
  report.say(describeError(error), 'error');
  return 1;
});
process.exit(code);
