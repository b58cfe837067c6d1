import { inheritEnv } from '../../store/config.ts';
import { findBubblewrap } from '../../store/duckdb/sandbox/isolation.ts';
import { findProgram } from '../../store/findProgram.ts';
import { type Finished, runCommand } from './command.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import { type Report, showProgress } from './report.ts';

interface BubblewrapOptions {
  report: Report;
  registry: ProcessRegistry;
  searchPath: string[];
  signal?: AbortSignal;
}

/**
 * Path of bubblewrap, which isolates query processes. Installs it when allowed to (root on Debian or Ubuntu). Null when it is
 * missing, after telling the user what to do; the sandbox itself decides whether it can run without.
 */
export async function ensureBubblewrap(options: BubblewrapOptions): Promise<string | null> {
  const { report, searchPath } = options;
  const found = findBubblewrap(searchPath);
  if (found) return found;
  const aptGet = findProgram('apt-get', searchPath);
  if (process.getuid?.() !== 0 || !aptGet) {
    report.say(`Queries are best shut in by bubblewrap, which is not installed. ${howToInstall(aptGet !== null)}`);
    return null;
  }
  report.say('Installing bubblewrap, which shuts queries in (apt-get install bubblewrap)');
  const finished = await install(aptGet, options);
  const installed = findBubblewrap(searchPath);
  if (!installed) report.say(`bubblewrap could not be installed:\n${finished.tail.slice(-5).join('\n')}\n${howToInstall(true)}`);
  return installed;
}

/** Package lists may be missing, as in most containers, or too old to find the package by. */
async function install(aptGet: string, options: BubblewrapOptions): Promise<Finished> {
  const first = await apt(aptGet, ['install', '-y', '--no-install-recommends', 'bubblewrap'], options);
  if (first.ok || options.signal?.aborted) return first;
  const updated = await apt(aptGet, ['update'], options);
  return updated.ok ? apt(aptGet, ['install', '-y', '--no-install-recommends', 'bubblewrap'], options) : updated;
}

function apt(aptGet: string, args: string[], { report, registry, signal }: BubblewrapOptions): Promise<Finished> {
  let last = '';
  const env = inheritEnv({ DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' });
  // Another apt may be running, as after a machine's first start.
  const work = runCommand({
    program: aptGet,
    args: ['-o', 'DPkg::Lock::Timeout=60', ...args],
    env,
    registry,
    signal,
    onLine: (line) => {
      last = line;
    },
  });
  return showProgress(report, (seconds) => `apt-get ${args[0]}: ${seconds} s${last ? ` (${last.trim()})` : ''}`, work);
}

function howToInstall(isDebian: boolean): string {
  if (isDebian) return 'Install it with: sudo apt-get install bubblewrap';
  return "Install the package bubblewrap with the system's package manager (dnf install bubblewrap, apk add bubblewrap, pacman -S bubblewrap).";
}
