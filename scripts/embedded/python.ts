import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inheritEnv } from '../../store/childEnv.ts';
import { type Config, listCacheDirs } from '../../store/config.ts';
import { findProgram } from '../../store/findProgram.ts';
import { describeError } from '../../store/lifecycle.ts';
import {
  findPackages,
  findPython,
  type PythonPlace,
  readSetUp,
  requirementsPath,
  type SetUpState,
  statePath,
} from '../../store/python/pythonPackages.ts';
import { type AptOptions, installPackages } from './apt.ts';
import { runCommand } from './command.ts';

interface SetUpOptions extends AptOptions {
  config: Pick<Config, 'dataDir' | 'machine'>;
}

const beatMs = 5_000;
const abandonedMs = 86_400_000;

/**
 * Puts the packages that Python transforms need into the cache, once. Everything else works without them, so it says what is
 * missing and never fails.
 */
export async function setUpPython(options: SetUpOptions): Promise<void> {
  const { config, report } = options;
  try {
    const place = await findPython(config.machine.searchPath, listCacheDirs(config));
    if (!place) return report.say('Python transforms need python3 (3.9 to 3.14), which is not installed. Everything else works without.');
    if (findPackages(place) || (await waitForOther(place, options.signal))) return;
    await install(place, options);
  } catch (error) {
    if (!options.signal?.aborted) report.say(`Python transforms cannot be run: ${describeError(error)}`, 'warn');
  }
}

/** Another service may be at it. */
async function waitForOther(place: PythonPlace, signal?: AbortSignal): Promise<boolean> {
  while (readSetUp(place)?.status === 'installing') await delay(500, undefined, { signal });
  return findPackages(place) !== null;
}

async function install(place: PythonPlace, options: SetUpOptions): Promise<void> {
  const { report } = options;
  const target = chooseFolder(place);
  const tell = (state: NonNullable<SetUpState>) => writeFileSync(statePath(target), JSON.stringify(state));
  tell({ status: 'installing' });
  const beat = setInterval(() => tell({ status: 'installing' }), beatMs);
  const workDir = mkdtempSync(join(dirname(target), 'new-'));
  try {
    report.say(`Setting up pandas for Python ${place.version} (once, in the cache)`);
    const packages = await installWithPip(place, workDir, options);
    renameSync(packages, target);
    rmSync(statePath(target), { force: true });
    report.say('Python transforms can be run');
  } catch (error) {
    if (findPackages(place)) return;
    if (options.signal?.aborted) rmSync(statePath(target), { force: true });
    else tell({ status: 'failed', why: describeError(error) });
    throw error;
  } finally {
    clearInterval(beat);
    rmSync(workDir, { recursive: true, force: true });
  }
}

function chooseFolder({ packageDirs }: PythonPlace): string {
  for (const dir of packageDirs) {
    const parent = dirname(dir);
    try {
      mkdirSync(parent, { recursive: true });
      accessSync(parent, constants.W_OK);
      removeAbandoned(parent);
      return dir;
    } catch {
      // A service user often has no home to write to.
    }
  }
  throw new Error(`none of these folders can be written to: ${packageDirs.map(dirname).join(', ')}`);
}

/** Work folders of set-ups that were killed. */
function removeAbandoned(dir: string): void {
  for (const name of readdirSync(dir).filter((each) => each.startsWith('new-'))) {
    const path = join(dir, name);
    if (Date.now() - statSync(path).mtimeMs > abandonedMs) rmSync(path, { recursive: true, force: true });
  }
}

/** Returns the folder of the packages. */
async function installWithPip(place: PythonPlace, workDir: string, options: SetUpOptions): Promise<string> {
  const packages = join(workDir, 'packages');
  const python = await findPip(place.python, workDir, options);
  const pinned = ['--no-deps', '--require-hashes', '--only-binary', ':all:', '--requirement', requirementsPath];
  const { ok, tail } = await runPython(python, ['-m', 'pip', 'install', '--quiet', '--target', packages, ...pinned], options);
  if (ok && existsSync(join(packages, 'pandas'))) return packages;
  const errors = tail.filter((line) => line.startsWith('ERROR'));
  throw new Error(`pip could not install pandas and pyarrow: ${(errors.length > 0 ? errors : tail.slice(-3)).join(' ')}`);
}

/** A Python with pip: this one, or an environment of its own. Debian has both in packages apart. */
async function findPip(python: string, workDir: string, options: SetUpOptions): Promise<string> {
  const hasPip = async (program: string) => (await runPython(program, ['-m', 'pip', '--version'], options)).ok;
  const makeOwn = async () => {
    const own = join(workDir, 'venv');
    await runPython(python, ['-m', 'venv', own], options);
    return join(own, 'bin', 'python3');
  };
  if (await hasPip(python)) return python;
  if (await hasPip(await makeOwn())) return join(workDir, 'venv', 'bin', 'python3');
  const aptGet = findProgram('apt-get', options.config.machine.searchPath);
  if (aptGet && process.getuid?.() === 0 && python.startsWith('/usr/bin/')) {
    await installPackages(aptGet, ['python3-pip', 'python3-venv'], options);
    if (await hasPip(python)) return python;
  }
  const how = aptGet ? 'sudo apt-get install python3-venv' : `the package of your system that brings pip for ${basename(python)}`;
  throw new Error(`${python} has neither pip nor ensurepip. Install it (${how}), and start again`);
}

function runPython(program: string, args: string[], { registry, signal }: SetUpOptions) {
  const env = inheritEnv({
    PYTHONHOME: undefined,
    PYTHONPATH: undefined,
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_ROOT_USER_ACTION: 'ignore',
    PIP_NO_WARN_CONFLICTS: '1',
  });
  return runCommand({ program, args, env, registry, signal });
}
