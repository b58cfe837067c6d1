import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { countLookup } from '../cacheCounts.ts';
import { errorCode, removeOldFiles, syncPath } from './files.ts';
import { limitConcurrency, type RunLimited } from './limitConcurrency.ts';

/** Writes the content of a blob into a new file, verified, or throws. */
type Download = (key: string, path: string) => Promise<void>;

interface Pin {
  count: number;
  path: Promise<string>;
}

const heartbeatMs = 60_000;
const deadAfterMs = 3_600_000;

/**
 * A folder with whole files of a remote store; the least recently used are evicted first, and those that nobody has used for long
 * anyway: whoever removes a blob can be on another machine. File names contain the hash of the content, so a cached file is never
 * stale, and an incomplete file never gets such a name.
 *
 * Several processes may share the folder. A pin is a hard link in a folder of the process's own: the kernel counts them, so
 * every process sees that a file is in use, and a file that is evicted anyway stays readable for those that pinned it.
 * Linking and unlinking set the file's ctime, which therefore is the time of last use, even after a restart.
 */
export class FileCache {
  private readonly pins = new Map<string, Pin>();
  private readonly runLimited: RunLimited = limitConcurrency(6);
  private bytes = 0;
  private evicting: Promise<void> = Promise.resolve();
  private readonly heartbeat: NodeJS.Timeout;
  private readonly sweep: NodeJS.Timeout;

  private constructor(
    private readonly folder: string,
    private readonly most: { bytes: number; keptMs: number },
    private readonly download: Download,
    private readonly pinFolder: string,
  ) {
    this.heartbeat = setInterval(() => void utimes(pinFolder, new Date(), new Date()).catch(() => {}), heartbeatMs);
    this.heartbeat.unref();
    this.sweep = setInterval(() => void this.removeOld(), most.keptMs / 24);
    this.sweep.unref();
  }

  static async open(folder: string, most: { bytes: number; keptMs: number }, download: Download): Promise<FileCache> {
    const pinFolder = join(folder, 'pins', randomUUID());
    const cache = new FileCache(folder, most, download, pinFolder);
    await cache.makeFolders();
    await cache.removeOld();
    return cache;
  }

  draft(): string {
    return join(this.folder, 'drafts', randomUUID());
  }

  /** The local path, valid until `unpin`. Concurrent calls share one download. */
  pin(key: string, name: string): Promise<string> {
    let pin = this.pins.get(name);
    if (!pin) {
      pin = { count: 0, path: this.linkFile(key, name) };
      this.pins.set(name, pin);
      // A failure is not cached: the next call tries again.
      pin.path.catch(() => this.pins.delete(name));
    }
    pin.count += 1;
    return pin.path;
  }

  /** Call once for each `pin` that returned a path. */
  unpin(name: string): void {
    const pin = this.pins.get(name);
    if (!pin) return;
    pin.count -= 1;
    if (pin.count > 0) return;
    this.pins.delete(name);
    // Synchronously, so that it cannot remove the link that a following `pin` makes.
    rmSync(join(this.pinFolder, name), { force: true });
    if (this.bytes > this.most.bytes) void this.evict();
  }

  /** Keeps a file whose content has just been uploaded. */
  async adopt(localPath: string, name: string, size: number): Promise<void> {
    await syncPath(localPath);
    await this.admit(localPath, name, size);
  }

  async forget(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  async sweepDrafts(olderThan: Date): Promise<number> {
    await this.sweepPins();
    return removeOldFiles(join(this.folder, 'drafts'), olderThan);
  }

  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    clearInterval(this.sweep);
    await Promise.allSettled([...this.pins.values()].map(({ path }) => path));
    await this.evicting;
    await rm(this.pinFolder, { recursive: true, force: true });
  }

  private async makeFolders(): Promise<void> {
    for (const path of [join(this.folder, 'files'), join(this.folder, 'drafts'), this.pinFolder]) await mkdir(path, { recursive: true });
  }

  private pathOf(name: string): string {
    return join(this.folder, 'files', name);
  }

  private async linkFile(key: string, name: string): Promise<string> {
    const pinned = join(this.pinFolder, name);
    for (let tries = 0; ; tries++) {
      try {
        await link(this.pathOf(name), pinned);
        countLookup('blob_files', tries === 0 ? 'hit' : 'miss');
        return pinned;
      } catch (error) {
        // Repeats only when another process evicts the file right after the download.
        if (errorCode(error) !== 'ENOENT' || tries === 3) throw error;
        // This process was suspended so long that others took it for dead and removed its pins; or somebody cleared the disk.
        await this.makeFolders();
        await this.runLimited(() => this.fetch(key, name));
      }
    }
  }

  private async fetch(key: string, name: string): Promise<void> {
    const draft = this.draft();
    try {
      await this.download(key, draft);
      await syncPath(draft);
      await this.admit(draft, name, (await stat(draft)).size);
    } finally {
      await rm(draft, { force: true });
    }
  }

  private async admit(localPath: string, name: string, size: number): Promise<void> {
    await rename(localPath, this.pathOf(name));
    this.bytes += size;
    if (this.bytes > this.most.bytes) void this.evict();
  }

  /** Also what processes have left that ended in the middle. */
  private async removeOld(): Promise<void> {
    await this.sweepPins().catch(() => {});
    await removeOldFiles(join(this.folder, 'drafts'), new Date(Date.now() - this.most.keptMs)).catch(() => {});
    await this.evict();
  }

  private evict(): Promise<void> {
    this.evicting = this.evicting.then(() => this.removeLeastUsed()).catch(() => {});
    return this.evicting;
  }

  /** Counts the folder itself, since other processes fill it too. Evicts to somewhat below the limit, so that it rarely has to run. */
  private async removeLeastUsed(): Promise<void> {
    const files = await this.scan();
    this.bytes = files.reduce((sum, { size }) => sum + size, 0);
    const old = Date.now() - this.most.keptMs;
    const isTooMuch = this.bytes > this.most.bytes;
    for (const { name, size, links, usedAt } of files.sort((a, b) => a.usedAt - b.usedAt)) {
      if (usedAt >= old && !(isTooMuch && this.bytes > this.most.bytes * 0.9)) return;
      if (links > 1 || this.pins.has(name)) continue;
      await rm(this.pathOf(name), { force: true });
      this.bytes -= size;
    }
  }

  private async scan(): Promise<{ name: string; size: number; links: number; usedAt: number }[]> {
    const names = await readdir(join(this.folder, 'files'));
    const found = await Promise.all(
      names.map(async (name) => {
        const info = await stat(this.pathOf(name)).catch(() => null);
        return info ? [{ name, size: info.size, links: info.nlink, usedAt: info.ctimeMs }] : [];
      }),
    );
    return found.flat();
  }

  /** Removes pins of processes that died. A living process touches its folder every minute. */
  private async sweepPins(): Promise<void> {
    await removeOldFiles(join(this.folder, 'pins'), new Date(Date.now() - deadAfterMs));
  }
}
