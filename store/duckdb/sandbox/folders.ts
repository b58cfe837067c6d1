import { chmodSync, chownSync, constants, lstatSync, renameSync } from 'node:fs';
import { chmod, chown, copyFile, link, lstat, mkdir, mkdtemp, readdir, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A query process's part of the file system. */
export interface ChildFolders {
  /** Where its results are moved to, which outlive it. */
  workDir: string;
  /** What it may read: `open`, with a folder for each session, and, until tables are loaded, `governed`. */
  inDir: string;
  /** What it may write. */
  outDir: string;
  owner: FileOwner | null;
  remove(): Promise<void>;
}

/** The user that a process runs as, if it is not our own. */
export interface FileOwner {
  uid: number;
  gid: number;
}

const governed = 'governed';
const parts = ['open', governed];

export async function makeFolders(workDir: string, owner: FileOwner | null): Promise<ChildFolders> {
  const dir = await mkdtemp(join(workDir, 'child-'));
  const [inDir, outDir] = [join(dir, 'in'), join(dir, 'out')];
  for (const part of parts) await mkdir(join(inDir, part), { recursive: true });
  await mkdir(outDir);
  if (owner) {
    // Only this user may enter and read the folders; only `out` is writable.
    for (const each of [dir, inDir, ...parts.map((part) => join(inDir, part))]) await openTo(owner, each);
    await chown(outDir, owner.uid, owner.gid);
  }
  return { workDir, inDir, outDir, owner, remove: () => rm(dir, { recursive: true, force: true, maxRetries: 3 }) };
}

async function openTo({ gid }: FileOwner, dir: string): Promise<void> {
  await chown(dir, process.getuid?.() ?? 0, gid);
  await chmod(dir, 0o750);
}

/** Where the files of a relation are, in `inDir`. */
export const partFor = (isGoverned: boolean, sessionFolder: string): string => (isGoverned ? governed : join('open', sessionFolder));

export async function makeSessionFolder({ inDir, owner }: ChildFolders, name: string): Promise<void> {
  const dir = join(inDir, partFor(false, name));
  await mkdir(dir);
  if (owner) await openTo(owner, dir);
}

export async function removeSessionFolder({ inDir }: ChildFolders, name: string): Promise<void> {
  await rm(join(inDir, partFor(false, name)), { recursive: true, force: true });
}

/** The folders of a process were deleted by somebody; not the fault of the query. */
export class FoldersGone extends Error {
  override readonly name = 'FoldersGone';
}

export async function hasFolders({ inDir, outDir }: ChildFolders): Promise<boolean> {
  return areThere([outDir, ...parts.map((part) => join(inDir, part))]);
}

async function areThere(paths: string[]): Promise<boolean> {
  const found = await Promise.allSettled(paths.map((path) => stat(path)));
  return found.every(({ status }) => status === 'fulfilled');
}

/**
 * Makes a file available to the process. A hard link costs nothing and is read-only if the folder is mounted so; a copy is
 * needed on another file system, or if the process may not open the original.
 */
export async function shareFile(path: string, target: string, owner: FileOwner | null): Promise<void> {
  const readable = owner === null || ((await stat(path)).mode & 0o004) !== 0;
  if (readable) {
    try {
      await link(path, target);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'EMLINK' && code !== 'EACCES') throw error;
    }
  }
  await copyFile(path, target, constants.COPYFILE_FICLONE);
  await chmod(target, owner ? 0o444 : 0o400);
}

export async function emptyFolder(dir: string): Promise<void> {
  for (const name of await readdir(dir)) await unlink(join(dir, name)).catch(() => rm(join(dir, name), { recursive: true, force: true }));
}

/**
 * Moves a file that the process wrote. It is not trusted: it could have put a link to one of our files there. Synchronously,
 * since none of it waits for the disk, and a workbook makes a hundred files.
 */
export async function takeFile(path: string, target: string): Promise<void> {
  renameSync(path, target);
  const info = lstatSync(target);
  if (!info.isFile() || info.nlink !== 1) {
    await rm(target, { recursive: true, force: true });
    throw new Error('a query process left something else than a file as its result');
  }
  chmodSync(target, 0o600);
  const [uid, gid] = [process.getuid?.() ?? info.uid, process.getgid?.() ?? info.gid];
  if (info.uid !== uid) chownSync(target, uid, gid);
}

const workPrefix = 'queries-';

/** Creates a folder for this service's query processes; deletes those of services that crashed. */
export async function makeWorkDir(parent: string, mode: number): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(workPrefix) ? Number.parseInt(name.slice(workPrefix.length), 10) : Number.NaN;
    if (pid > 0 && !isAlive(pid)) await removeOurs(join(parent, name)).catch(() => {});
  }
  const dir = await mkdtemp(join(parent, `${workPrefix}${process.pid}-`));
  await chmod(dir, mode);
  return dir;
}

async function removeOurs(path: string): Promise<void> {
  if (await isOurs(path)) await rm(path, { recursive: true, force: true });
}

/** In a world-writable folder, another user could have created it. */
async function isOurs(path: string): Promise<boolean> {
  const info = await lstat(path);
  return info.isDirectory() && info.uid === process.getuid?.();
}

/** Whether a service's folder and these files in it still exist. */
export async function isWhole(workDir: string, files: string[]): Promise<boolean> {
  return (await isOurs(workDir).catch(() => false)) && (await areThere(files));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
