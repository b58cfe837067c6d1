import { constants } from 'node:fs';
import { chmod, chown, copyFile, link, lstat, mkdir, mkdtemp, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A query process's part of the file system. */
export interface ChildFolders {
  /** Where results that it leaves are put, which outlive it. */
  workDir: string;
  /** What it may read: `open` and, until it has been loaded, `governed`. */
  inDir: string;
  /** What it may write. */
  outDir: string;
  owner: FileOwner | null;
  remove(): Promise<void>;
}

/** Who a process runs as, when that is somebody else than us. */
export interface FileOwner {
  uid: number;
  gid: number;
}

const parts = ['open', 'governed'] as const;
export type InPart = (typeof parts)[number];

export async function makeFolders(workDir: string, owner: FileOwner | null): Promise<ChildFolders> {
  const dir = await mkdtemp(join(workDir, 'child-'));
  const [inDir, outDir] = [join(dir, 'in'), join(dir, 'out')];
  for (const part of parts) await mkdir(join(inDir, part), { recursive: true });
  await mkdir(outDir);
  if (owner) {
    // That user, and no other process's, may go in and read; only `out` is his.
    for (const each of [dir, inDir, ...parts.map((part) => join(inDir, part))]) {
      await chown(each, process.getuid?.() ?? 0, owner.gid);
      await chmod(each, 0o750);
    }
    await chown(outDir, owner.uid, owner.gid);
  }
  return { workDir, inDir, outDir, owner, remove: () => rm(dir, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Somebody has cleared away what a process reads from or writes to: a fault of the process, whatever it was asked. */
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
 * Gives a file to the process under a name of our choice. A hard link costs nothing and is read-only where the folder is
 * bound so; another file system, or a reader that may not open the original, needs a copy.
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

/** Takes a file that the process wrote. It could have put anything there, such as a link to a file of ours. */
export async function takeFile(path: string, target: string): Promise<void> {
  await rename(path, target);
  const info = await lstat(target);
  if (!info.isFile() || info.nlink !== 1) {
    await rm(target, { recursive: true, force: true });
    throw new Error('a query process left something else than a file as its result');
  }
  await chmod(target, 0o600);
  const [uid, gid] = [process.getuid?.() ?? info.uid, process.getgid?.() ?? info.gid];
  if (info.uid !== uid) await chown(target, uid, gid);
}

const workPrefix = 'queries-';

/** A folder for one service's query processes. Those of services that ended without clearing up are removed. */
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

/** In a folder that everybody may write to, somebody else could have chosen the name. */
async function isOurs(path: string): Promise<boolean> {
  const info = await lstat(path);
  return info.isDirectory() && info.uid === process.getuid?.();
}

/** Whether nobody has cleared away a service's folder, or these files in it. */
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
