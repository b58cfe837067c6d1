import { createHash } from 'node:crypto';
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { BlobError } from './blobStore.ts';
import { parseKey } from './keys.ts';

/** Handling of local files, for both the folder store and the S3 store. */

const readBytes = 1024 * 1024;

export async function hashFile(path: string): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(readBytes);
  let size = 0;
  const handle = await open(path, 'r');
  try {
    for (let { bytesRead } = await handle.read(buffer); bytesRead > 0; { bytesRead } = await handle.read(buffer)) {
      hash.update(buffer.subarray(0, bytesRead));
      size += bytesRead;
    }
  } finally {
    await handle.close();
  }
  return { sha256: hash.digest('hex'), size };
}

/** Flushes a file to disk; for a folder, the names in it. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder below `root` and syncs its parents: a file counts as stored only when its folders are durable too. */
export async function makeFolder(path: string, root: string, mode?: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode });
  if (first === undefined) return;
  // Up to the root: a parent may have just been made by another writer that has not synced it yet.
  for (let parent = dirname(path); parent.length >= root.length; parent = dirname(parent)) await syncPath(parent);
}

/** Renames; across file systems it copies to a draft first, so that no reader sees half a file. */
export async function moveFile(from: string, to: string, draft: () => Promise<string>): Promise<void> {
  try {
    await rename(from, to);
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
