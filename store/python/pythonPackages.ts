import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir } from '../config.ts';
import { findProgram } from '../findProgram.ts';

/** A python3 that the pinned packages exist for, and where they are, or will be. */
export interface PythonPlace {
  python: string;
  /** `3.11`. */
  version: string;
  /** Folders for the packages; the first that can be written to is used. */
  packageDirs: string[];
}

/** How the set-up of the packages stands. Null in a place where it never began, or ended without saying how. */
export type SetUpState = { status: 'installing' } | { status: 'failed'; why: string } | null;

export const requirementsPath = join(projectDir, 'store/python/requirements.txt');

/** For which the requirements name packages. The system's own comes first. */
const supported = ['3.13', '3.12', '3.11', '3.10', '3.9', '3.14'];
const names = ['python3', ...supported.map((version) => `python${version}`)];
const asks = 'import sys; print(sys.executable, "%d.%d" % sys.version_info[:2])';
const askTimeoutMs = 20_000;
/** Set-up writes its state anew more often than this. */
const aliveMs = 30_000;

/** Null: there is no python3 that can be used. */
export async function findPython(searchPath: string[], cacheDirs: string[]): Promise<PythonPlace | null> {
  for (const name of names) {
    const found = findProgram(name, searchPath);
    const place = found && (await askPython(found, cacheDirs));
    if (place) return place;
  }
  return null;
}

/** What is on the PATH may be a script that chooses one of several; it is asked which. */
async function askPython(program: string, cacheDirs: string[]): Promise<PythonPlace | null> {
  try {
    const { stdout } = await promisify(execFile)(program, ['-c', asks], { cwd: '/', timeout: askTimeoutMs });
    const [, python = '', version = ''] = /^(.*) (\S+)\n$/.exec(stdout) ?? [];
    if (!supported.includes(version)) return null;
    const folder = join('python', `${version}-${process.arch}-${hashRequirements()}`);
    return { python, version, packageDirs: cacheDirs.map((dir) => join(dir, folder)) };
  } catch {
    return null;
  }
}

function hashRequirements(): string {
  return createHash('sha256').update(readFileSync(requirementsPath)).digest('hex').slice(0, 12);
}

export const findPackages = ({ packageDirs }: PythonPlace): string | null => packageDirs.find((dir) => existsSync(dir)) ?? null;

export const statePath = (packagesDir: string): string => `${packagesDir}.state`;

export function readSetUp({ packageDirs }: PythonPlace): SetUpState {
  for (const dir of packageDirs) {
    try {
      const state = JSON.parse(readFileSync(statePath(dir), 'utf8')) as NonNullable<SetUpState>;
      const isAlive = Date.now() - statSync(statePath(dir)).mtimeMs < aliveMs;
      if (state.status === 'failed' || isAlive) return state;
    } catch {
      // None here.
    }
  }
  return null;
}
