import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { inheritEnv } from '../../store/childEnv.ts';
import { listCacheDirs, projectDir } from '../../store/config.ts';
import { runCommand } from './command.ts';
import { showProgress } from './report.ts';
import { buildTemporal } from './temporalBuild.ts';
import { findProblem } from './temporalCheck.ts';
import type { FindOptions, MadeProgram, MakeOptions } from './temporalOptions.ts';

/** Later versions carry a `replace` in their go.mod and cannot be built by `go install`. */
const temporalVersion = 'v1.5.1';

/** Path of Temporal's server program: configured, on the PATH, cached, downloaded or built, in this order. The last two fill the cache. */
export async function findTemporal(options: FindOptions): Promise<string> {
  const { config, report } = options;
  const named = config.temporal.cliPath;
  if (named) {
    const problem = findProblem(named);
    if (problem) throw new Error(`TEMPORAL_CLI names ${named}, which cannot be used: ${problem}`);
    return named;
  }
  const onPath = config.machine.searchPath.map((dir) => join(dir, 'temporal')).find(isExecutable);
  if (onPath) {
    const problem = findProblem(onPath);
    if (!problem) return onPath;
    report.say(`${onPath} cannot be used (${problem}); looking further`);
  }
  const cacheDir = openCache(config);
  const cached = join(cacheDir, `${temporalVersion}-${platform()}-${arch()}`, 'temporal');
  if (isExecutable(cached)) return cached;

  const failures: string[] = [];
  for (const make of [downloadTemporal, buildTemporal]) {
    const workDir = await mkdtemp(join(cacheDir, 'new-'));
    try {
      const made = await make({ ...options, workDir, version: temporalVersion });
      options.signal?.throwIfAborted();
      if (made.ok) return await keepProgram(made.program, cached);
      failures.push(made.why);
    } finally {
      rmSync(workDir, { recursive: true, force: true });
    }
  }
  throw new Error(explainMissing(failures));
}

/** Downloads through the SDK. Without internet access this fails, at once or by our time limit, and the next way is tried. */
async function downloadTemporal({ report, registry, signal, workDir, version }: MakeOptions): Promise<MadeProgram> {
  report.say(`Temporal's server program is not on this machine yet; trying to download ${version}`);
  const patience = new AbortController();
  const abort = AbortSignal.any([patience.signal, ...(signal ? [signal] : [])]);
  const work = runCommand({
    program: process.execPath,
    args: [join(projectDir, 'scripts/embedded/downloadTemporal.mjs'), workDir, version],
    env: inheritEnv({}),
    registry,
    signal: abort,
  });
  let bytes = -1;
  let grownMs = Date.now();
  const finished = await showProgress(
    report,
    (seconds) => {
      const now = readdirSync(workDir).reduce(
        (sum, name) => sum + (statSync(join(workDir, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
      if (now !== bytes) grownMs = Date.now();
      bytes = now;
      // Connecting may hang behind a firewall; a transfer may stall.
      if (Date.now() - grownMs > (bytes === 0 ? 20_000 : 60_000)) patience.abort();
      return `Downloading Temporal, ${Math.round(bytes / 1e6)} MB, ${seconds} s`;
    },
    work,
  );
  // The SDK also tries to start it, with a short timeout. Only the file counts; it appears when it is complete.
  const program = join(workDir, `temporal-${version}`);
  const problem = existsSync(program) ? findProblem(program) : 'it could not be reached';
  if (problem === null) return { ok: true, program };
  report.say('  the download is not available');
  const last = finished.tail.at(-1) ?? '';
  return { ok: false, why: `download: ${patience.signal.aborted ? 'no answer' : last.replace(/^.*: /, '') || problem}` };
}

/** Moves a complete, tested program into the cache. Two starts may do this at once; either program is fine. */
async function keepProgram(made: string, cached: string): Promise<string> {
  mkdirSync(join(cached, '..'), { recursive: true });
  await rename(made, cached);
  return cached;
}

function openCache(config: FindOptions['config']): string {
  for (const base of listCacheDirs(config)) {
    const dir = join(base, 'temporal');
    try {
      mkdirSync(dir, { recursive: true });
      accessSync(dir, constants.W_OK);
      removeAbandoned(dir);
      return dir;
    } catch {
      // A service user often has no home to write to.
    }
  }
  throw new Error(`Neither ${config.machine.cacheDir} nor ${config.dataDir} can be written to.`);
}

/** Work folders of runs that were killed; a day is longer than any build. */
function removeAbandoned(dir: string): void {
  for (const name of readdirSync(dir).filter((each) => each.startsWith('new-'))) {
    const path = join(dir, name);
    if (Date.now() - statSync(path).mtimeMs > 86_400_000) rmSync(path, { recursive: true, force: true });
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function explainMissing(failures: string[]): string {
  return [
    "Temporal's server program was not found and could not be made.",
    ...failures.map((failure) => `  ${failure}`),
    'Do one of these, then start again:',
    '  - install the Temporal CLI so that `temporal` is on the PATH, or name it by TEMPORAL_CLI=/path/to/temporal',
    `  - install Go 1.25 or newer, with which it is built here (go install github.com/temporalio/cli/cmd/temporal@${temporalVersion})`,
    '  - use a Temporal server that runs already: TEMPORAL_ADDRESS=host:port',
  ].join('\n');
}
