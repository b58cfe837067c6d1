import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, opendir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { BlobError, type BlobStore, type OpenedBlobs } from './blobStore.ts';
import { errorCode, finishFile, makeFolder, moveFile, openFolderSyncs, readVerified, removeOldFiles, takeOver } from './files.ts';
import { checkPrefix, makeKey, parseKey, tryParseKey } from './keys.ts';

/** Keys never contain names that begin with a dot, so these folders cannot collide with blobs. */
const draftsName = '.drafts';

const [privateFolder, privateFile] = [0o700, 0o600];

/** `isPrivate`: nobody but the user that writes them can read the files. */
export async function openFolderStore(root: string, { isPrivate = false } = {}): Promise<BlobStore> {
  await mkdir(join(root, draftsName), { recursive: true, mode: isPrivate ? privateFolder : undefined });
  return new FolderStore(root, isPrivate);
}

class FolderStore implements BlobStore {
  private readonly drafts: string;
  /** Folders being made, so that concurrent puts into a new one share one sync. */
  private readonly folders = new Map<string, Promise<void>>();
  private readonly syncFolder = openFolderSyncs();

  constructor(
    private readonly root: string,
    private readonly isPrivate: boolean,
  ) {
    this.drafts = join(root, draftsName);
  }

  async draft(): Promise<string> {
    return join(this.drafts, randomUUID());
  }

  /** Synced in this order to survive a crash: the content, then the name, then the folder of the name. */
  put(prefix: string, localPath: string, ext: string): Promise<{ key: string; size: number; sha256: string }> {
    return takeOver(localPath, async () => {
      const { sha256, size } = await finishFile(localPath, this.isPrivate ? privateFile : undefined);
      const key = makeKey(prefix, sha256, ext);
      await this.moveIn(localPath, this.pathOf(key));
      return { key, size, sha256 };
    });
  }

  async open(keys: string[]): Promise<OpenedBlobs> {
    for (const key of keys) if (!existsSync(this.pathOf(key))) throw new BlobError('missing', key);
    // No pins needed: files never change, and are removed only long after their last possible reader is gone.
    return { pathOf: (key) => this.pathOf(key), release() {} };
  }

  async read(key: string): Promise<Readable> {
    return readVerified(this.pathOf(key), key, () => {});
  }

  async exists(key: string): Promise<boolean> {
    return existsSync(this.pathOf(key));
  }

  async remove(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  async removeOld(key: string, olderThan: Date): Promise<boolean> {
    const info = await stat(this.pathOf(key)).catch(() => null);
    if (info && info.mtime >= olderThan) return false;
    await this.remove(key);
    return true;
  }

  async *list(prefix: string): AsyncGenerator<{ key: string; size: number; modifiedAt: Date }> {
    for await (const key of this.walk(checkPrefix(prefix))) {
      const info = await stat(this.pathOf(key)).catch(() => null);
      if (info) yield { key, size: info.size, modifiedAt: info.mtime };
    }
  }

  async removeAll(prefix: string, onRemoved: () => void): Promise<void> {
    for await (const key of this.walk(checkPrefix(prefix))) {
      await this.remove(key);
      onRemoved();
    }
    // The folders, and files that are not ours to keep.
    if (prefix !== '') await rm(join(this.root, prefix), { recursive: true, force: true });
  }

  async sweepDrafts(olderThan: Date): Promise<number> {
    return removeOldFiles(this.drafts, olderThan);
  }

  async close(): Promise<void> {}

  private pathOf(key: string): string {
    parseKey(key);
    return join(this.root, key);
  }

  private async moveIn(localPath: string, target: string): Promise<void> {
    const folder = dirname(target);
    await this.ensureFolder(folder);
    try {
      await moveFile(localPath, target, () => this.draft());
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || existsSync(folder)) throw error;
      // The folder was empty and has been removed meanwhile.
      await this.ensureFolder(folder);
      await moveFile(localPath, target, () => this.draft());
    }
    await this.syncFolder(folder);
  }

  private ensureFolder(folder: string): Promise<void> {
    const mode = this.isPrivate ? privateFolder : undefined;
    const making =
      this.folders.get(folder) ?? makeFolder(folder, this.root, this.syncFolder, mode).finally(() => this.folders.delete(folder));
    this.folders.set(folder, making);
    return making;
  }

  private async *walk(prefix: string): AsyncGenerator<string> {
    const folder = await opendir(join(this.root, prefix)).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
      throw error;
    });
    if (!folder) return;
    for await (const entry of folder) {
      if (entry.name.startsWith('.')) continue;
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) yield* this.walk(path);
      else if (tryParseKey(path)) yield path;
    }
  }
}
