import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runCommand } from './command.ts';
import { type PostgresBinaries, postgresEnv } from './postgresBinaries.ts';
import { canEnter, type PostgresUser, sharedDir } from './postgresUser.ts';
import { readStamp, stopProcess, stopSteps } from './processes.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import type { Report } from './report.ts';

/**
 * Where the cluster of a data dir lies: `postgres` in it, unless we are root and the user PostgreSQL runs as cannot get
 * there because a parent folder is closed (such as root's home). Parent folders are not ours to open, so the cluster then
 * lies in a shared place, and `postgres.location` in the data dir says where.
 */
export async function placeCluster(dataDir: string, user: PostgresUser | null, report: Report): Promise<string> {
  const usual = join(dataDir, 'postgres');
  if (user === null) return usual;
  const record = join(dataDir, 'postgres.location');
  const recorded = (await readFile(record, 'utf8').catch(() => '')).trim();
  if (recorded && (await stat(recorded).catch(() => null))) return recorded;
  if (canEnter(user, dataDir)) return usual;
  // The data dir itself is ours: let others pass through it, not look into it.
  await chmod(dataDir, 0o711);
  if (canEnter(user, dataDir)) return usual;
  if (await stat(usual).catch(() => null)) {
    throw new Error(
      `The database lies in ${usual}, but user ${user.name}, as which PostgreSQL runs when started by root, may not enter one of the folders above it. Allow that (chmod o+x on the folder) or move the data dir.`,
    );
  }
  const elsewhere = join(sharedDir, 'clusters', randomBytes(6).toString('hex'));
  await mkdir(elsewhere, { recursive: true, mode: 0o755 });
  if (!canEnter(user, elsewhere)) {
    throw new Error(
      `User ${user.name}, as which PostgreSQL runs when started by root, can enter neither ${dataDir} nor ${elsewhere}. Set SVC_DATA_DIR to a folder it can enter, start as a normal user, or set DATABASE_URL.`,
    );
  }
  await writeFile(record, `${elsewhere}/postgres\n`);
  report.say(`The database is kept in ${elsewhere}, since user ${user.name} may not enter ${dataDir}`);
  return join(elsewhere, 'postgres');
}

interface ClusterOptions {
  dir: string;
  binaries: PostgresBinaries;
  user: PostgresUser | null;
  adminPassword: string;
  report: Report;
  registry: ProcessRegistry;
  signal?: AbortSignal;
}

/** Creates the cluster unless it exists, under a temporary name first, so that a kill never leaves half a cluster. */
export async function ensureCluster(options: ClusterOptions): Promise<void> {
  const { dir, binaries } = options;
  const unfinished = `${basename(dir)}.new-`;
  for (const name of await readdir(dirname(dir)).catch(() => [])) {
    if (name.startsWith(unfinished)) await rm(join(dirname(dir), name), { recursive: true, force: true });
  }
  const version = await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null) return initCluster(options, `${dir}.new-${process.pid}`);
  if (version.trim() !== binaries.majorVersion) {
    throw new Error(
      `The database in ${dir} was made by PostgreSQL ${version.trim()}; this is PostgreSQL ${binaries.majorVersion}. Dump and restore it, or start with a new SVC_DATA_DIR.`,
    );
  }
}

async function initCluster(
  { dir, binaries, user, adminPassword, report, registry, signal }: ClusterOptions,
  temporary: string,
): Promise<void> {
  report.say('Making the database files');
  const passwordFile = `${temporary}.password`;
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, `${adminPassword}\n`, { mode: 0o600 });
  if (user) for (const path of [temporary, passwordFile]) await chown(path, user.ids.uid, user.ids.gid);
  const made = await runCommand({
    program: binaries.initdb,
    // PostgreSQL's own locale: the same order of text on every machine, and no locale of the system is needed.
    args: [
      `--pgdata=${temporary}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ],
    env: postgresEnv(),
    user: user?.ids,
    registry,
    signal,
  });
  await rm(passwordFile, { force: true });
  if (!made.ok) {
    await rm(temporary, { recursive: true, force: true });
    signal?.throwIfAborted();
    throw new Error(`PostgreSQL's initdb failed:\n${made.tail.join('\n')}`);
  }
  // A folder without PG_VERSION is no cluster. Only an empty one may be replaced.
  await rename(temporary, dir);
}

/** As root, a cluster that a normal user made before keeps running as that user. */
export async function chooseUser(dir: string, user: PostgresUser | null): Promise<PostgresUser | null> {
  const owner = await stat(dir).catch(() => null);
  if (!owner || (user === null && owner.uid === process.getuid?.())) return user;
  if (user === null)
    throw new Error(
      `The database in ${dir} belongs to another user (uid ${owner.uid}). Start as that user, or set SVC_DATA_DIR to a folder of your own.`,
    );
  if (owner.uid === 0 || owner.uid === user.ids.uid) return user;
  return { name: `uid ${owner.uid}`, ids: { uid: owner.uid, gid: owner.gid } };
}

/**
 * Ends every server process of this cluster: a postmaster whose supervisor was killed, or backends that outlived their
 * postmaster and would keep a new one from starting. They are known by what they run and by where they run it.
 */
export async function endClusterProcesses(dir: string, say: (line: string) => void): Promise<void> {
  const postmaster = Number.parseInt(await readFile(join(dir, 'postmaster.pid'), 'utf8').catch(() => ''), 10);
  const found = findClusterPids(dir);
  if (found.includes(postmaster)) {
    say(`PostgreSQL (pid ${postmaster}) is left over from an earlier run; stopping it`);
    await stopProcess(postmaster, readStamp(postmaster) ?? '', stopSteps.postgres);
  }
  for (const pid of findClusterPids(dir)) await stopProcess(pid, readStamp(pid) ?? '', []);
}

function findClusterPids(dir: string): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 1 && servesCluster(pid, dir));
  } catch {
    return [];
  }
}

function servesCluster(pid: number, dir: string): boolean {
  try {
    // PostgreSQL's processes live in the folder of their cluster. A program that was replaced on disk is "postgres (deleted)".
    if (readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, '') !== dir) return false;
    return (
      basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('postgres') || readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres'
    );
  } catch {
    return false;
  }
}
