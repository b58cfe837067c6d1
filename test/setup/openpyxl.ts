import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Pinned, so that a new release cannot break the tests. */
const wanted = 'openpyxl==3.1.5';
const home = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'workbook-data-service', 'test-openpyxl');

/** A Python that has openpyxl: the machine's own, or one with it in the user's cache. Null, and said aloud: there is none. */
export function findOpenpyxl(): string | null {
  const own = join(home, 'bin/python');
  for (const python of ['python3', own]) if (hasIt(python)) return python;
  try {
    execFileSync('python3', ['-m', 'venv', home], { stdio: 'pipe' });
    execFileSync(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wanted], { stdio: 'pipe', timeout: 120_000 });
  } catch {
    // Told below.
  }
  if (hasIt(own)) return own;
  console.warn('SKIPPED: files are not opened with openpyxl: python3 is not there, or openpyxl cannot be installed');
  return null;
}

function hasIt(python: string): boolean {
  return spawnSync(python, ['-c', 'import openpyxl']).status === 0;
}

/** Runs a script with the path of a file as its argument; what it prints is read as JSON. A service of this process goes on meanwhile. */
export async function runPython<T>(python: string, script: string, path: string): Promise<T> {
  const { stdout } = await promisify(execFile)(python, ['-c', script, path], { maxBuffer: 1 << 28 });
  return (stdout === '' ? null : JSON.parse(stdout)) as T;
}
