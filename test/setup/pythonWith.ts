import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface PythonPackage {
  module: string;
  /** Pinned, so that a new release cannot break the tests. */
  wanted: string;
  /** What is not tested without it. */
  without: string;
}

/** A Python that has the package: the machine's own, or one with it in the user's cache. Null, and said aloud: there is none. */
export function findPythonWith({ module, wanted, without }: PythonPackage): string | null {
  const [, version = ''] = wanted.split('==');
  const home = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'workbook-data-service', `test-${module}`);
  const own = join(home, 'bin/python');
  const hasIt = (python: string) => {
    const script = `import sys, ${module}\nfrom importlib.metadata import version\nsys.exit(version('${module}') != '${version}')`;
    return spawnSync(python, ['-c', script]).status === 0;
  };
  for (const python of ['python3', own]) if (hasIt(python)) return python;
  try {
    execFileSync('python3', ['-m', 'venv', home], { stdio: 'pipe' });
    execFileSync(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wanted], { stdio: 'pipe', timeout: 120_000 });
  } catch {
    // Told below.
  }
  if (hasIt(own)) return own;
  console.warn(`SKIPPED: ${without}: python3 is not there, or ${module} cannot be installed`);
  return null;
}

/** Runs a script with arguments; what it prints is read as JSON. A service of this process goes on meanwhile. */
export async function runPython<T>(python: string, script: string, ...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(python, ['-c', script, ...args], { maxBuffer: 1 << 28 });
  return (stdout === '' ? null : JSON.parse(stdout)) as T;
}
