import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';

/** Null when it is a temporal program with a development server that knows what we ask of it. */
export function findProblem(program: string): string | null {
  const { status, stdout, error } = spawnSync(program, ['server', 'start-dev', '--help'], { encoding: 'utf8', timeout: 30_000 });
  if (error) return (error as NodeJS.ErrnoException).code ?? error.message;
  if (status !== 0) return `it ended with exit code ${status}`;
  const missing = ['--db-filename', '--search-attribute', '--sqlite-pragma'].filter((flag) => !stdout.includes(flag));
  return missing.length > 0 ? `${basename(program)} is too old, it has no ${missing.join(', ')}` : null;
}
