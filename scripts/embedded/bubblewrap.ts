import { findBubblewrap } from '../../store/duckdb/sandbox/isolation.ts';
import { findProgram } from '../../store/findProgram.ts';
import { type AptOptions, installPackages } from './apt.ts';

interface BubblewrapOptions extends AptOptions {
  searchPath: string[];
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
  const finished = await installPackages(aptGet, ['bubblewrap'], options);
  const installed = findBubblewrap(searchPath);
  if (!installed) report.say(`bubblewrap could not be installed:\n${finished.tail.slice(-5).join('\n')}\n${howToInstall(true)}`);
  return installed;
}

function howToInstall(isDebian: boolean): string {
  if (isDebian) return 'Install it with: sudo apt-get install bubblewrap';
  return "Install the package bubblewrap with the system's package manager (dnf install bubblewrap, apk add bubblewrap, pacman -S bubblewrap).";
}
