import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../store/config.ts';

/** A virtual environment with these packages in the user's cache, made once; `check` is code that works if it is whole. */
export async function preparePython(name: string, packages: string[], check: string): Promise<string> {
  const run = promisify(execFile);
  const venv = join(loadConfig().machine.cacheDir, name);
  const python = join(venv, 'bin', 'python');
  const isThere = await run(python, ['-c', check]).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    await run('python3', ['-m', 'venv', venv]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]);
    await run(python, ['-c', check]);
  }
  return python;
}
