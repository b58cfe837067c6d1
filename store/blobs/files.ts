import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, fstatSync, fsync, futimesSync, mkdirSync, openSync, read, readSync, renameSync } from 'node:fs';
import { copyFile, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { promisify } from 'node:util';
import { BlobError } from './blobStore.ts';
import { parseKey } from './keys.ts';

/**
 * Handling of local files, for both the folder store and the S3 store. What the kernel answers from its memory is called
 * synchronously: handing it to a thread takes several times as long, and a workbook makes a hundred small files. Only syncs and
 * the content of large files wait for the disk.
 */

const readBytes = 1024 * 1024;
const readAtOnceBytes = 256 * 1024;
const syncOpened = promisify(fsync);
const readOpened = promisify(read);

/** Opens a file for reading while `work` runs. */
async function withFile<T>(path: string, work: (file: number) => Promise<T>): Promise<T> {
  const file = openSync(path, 'r');
  try {
    return await work(file);
  } finally {
    closeSync(file);
  }
}

export async function hashFile(path: string): Promise<{ sha256: string; size: number }> {
  return withFile(path, hashOpened);
}

async function hashOpened(file: number): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256');
  const whole = fstatSync(file).size;
  const buffer = Buffer.allocUnsafe(Math.min(readBytes, whole));
  const readPiece = async () =>
    buffer.length <= readAtOnceBytes ? readSync(file, buffer) : (await readOpened(file, buffer, 0, buffer.length, null)).bytesRead;
  let size = 0;
  while (size < whole) {
    const bytes = await readPiece();
    if (bytes === 0) break;
    hash.update(buffer.subarray(0, bytes));
    size += bytes;
  }
  return { sha256: hash.digest('hex'), size };
}

/** Makes a file as old as now, flushes it to disk, and hashes it meanwhile. */
export async function finishFile(path: string, mode?: number): Promise<{ sha256: string; size: number }> {
  return withFile(path, async (file) => {
    if (mode !== undefined) fchmodSync(file, mode);
    const now = new Date();
    futimesSync(file, now, now);
    const syncing = syncOpened(file);
    syncing.catch(() => {});
    try {
      return await hashOpened(file);
    } finally {
      // The file stays open until then, whatever happens.
      await syncing;
    }
  });
}

/** Flushes a file to disk; for a folder, the names in it. */
export async function syncPath(path: string): Promise<void> {
  await withFile(path, syncOpened);
}

type SyncFolder = (folder: string) => Promise<void>;

/**
 * Syncs folders for several writers: those who come while a sync waits for the one before it share it. One that has begun is
 * not shared, because it may miss what was renamed since.
 */
export function openFolderSyncs(): SyncFolder {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();
  return (folder) => {
    const start = (): Promise<void> => {
      waiting.delete(folder);
      const run = syncPath(folder).finally(() => running.get(folder) === run && running.delete(folder));
      running.set(folder, run);
      return run;
    };
    const before = running.get(folder);
    if (!before) return start();
    const next = waiting.get(folder) ?? before.then(start, start);
    waiting.set(folder, next);
    return next;
  };
}

/** Makes a folder below `root` and syncs its parents: a file counts as stored only when its folders are durable too. */
export async function makeFolder(path: string, root: string, sync: SyncFolder, mode?: number): Promise<void> {
  const first = mkdirSync(path, { recursive: true, mode });
  if (first === undefined) return;
  // Up to the root: a parent may have just been made by another writer that has not synced it yet.
  for (let parent = dirname(path); parent.length >= root.length; parent = dirname(parent)) await sync(parent);
}

/** Renames; across file systems it copies to a draft first, so that no reader sees half a file. */
export async function moveFile(from: string, to: string, draft: () => Promise<string>): Promise<void> {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    const copy = await draft();
    await copyFile(from, copy);
    await syncPath(copy);
    await rename(copy, to);
    await rm(from, { force: true });
  }
}

/** Runs work that consumes a local file, and removes the file if the work fails. */
export async function takeOver<T>(localPath: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rm(localPath, { force: true });
    throw error;
  }
}

/** Removes files directly in a folder that were last modified before `olderThan`; returns how many. */
export async function removeOldFiles(folder: string, olderThan: Date): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => null);
    if (!info || info.mtime >= olderThan) continue;
    await rm(path, { force: true, recursive: true });
    removed += 1;
  }
  return removed;
}

/** Passes bytes on, but holds back the last ones until the hash is verified. */
class VerifyHash extends Transform {
  private readonly hash = createHash('sha256');
  private held: Buffer | null = null;

  constructor(
    private readonly key: string,
    private readonly sha256: string,
  ) {
    super();
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.hash.update(piece);
    if (this.held) this.push(this.held);
    this.held = piece;
    done();
  }

  override _flush(done: TransformCallback): void {
    const isRight = this.hash.digest('hex') === this.sha256;
    done(isRight ? null : new BlobError('corrupt', this.key), isRight ? this.held : null);
  }
}

/** A blob's local file as a stream. `onEnd` is called once, however the stream ends. */
export async function readVerified(path: string, key: string, onEnd: () => void): Promise<Readable> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    onEnd();
    throw errorCode(error) === 'ENOENT' ? new BlobError('missing', key, { cause: error }) : error;
  });
  // Errors reach the reader through the stream.
  return pipeline(handle.createReadStream(), new VerifyHash(key, parseKey(key).sha256), () => onEnd());
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
