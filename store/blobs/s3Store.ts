import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { BlobError, type BlobStore, type OpenedBlobs } from './blobStore.ts';
import { FileCache } from './fileCache.ts';
import { hashFile, readVerified, takeOver } from './files.ts';
import { checkPrefix, makeKey, parseKey, tryParseKey } from './keys.ts';
import { createS3Client, defaultOptions, explainError, isNotFound, type S3Config, type S3Options } from './s3Client.ts';
import { downloadFile, type S3Object, uploadFile } from './s3Transfer.ts';

export async function openS3Store(config: S3Config, cacheFolder: string, changes: Partial<S3Options> = {}): Promise<BlobStore> {
  const options = { ...defaultOptions(config), ...changes };
  const client = createS3Client(config, options);
  const objectOf = (key: string): S3Object => ({
    bucket: config.bucket,
    path: config.prefix === '' ? key : `${config.prefix}/${key}`,
    key,
    sha256: parseKey(key).sha256,
  });
  const cache = await FileCache.open(cacheFolder, { bytes: options.cacheBytes, keptMs: options.cacheKeptMs }, (key, path) =>
    guard('reading', () => downloadFile(client, objectOf(key), path, options)),
  );
  return new S3Store(config, options, client, cache, objectOf);
}

/** Objects of a bucket, read through a cache of whole files. */
class S3Store implements BlobStore {
  /** What the paths of all our objects begin with. */
  private readonly root: string;

  constructor(
    private readonly config: S3Config,
    private readonly options: S3Options,
    private readonly client: S3Client,
    private readonly cache: FileCache,
    private readonly objectOf: (key: string) => S3Object,
  ) {
    this.root = config.prefix === '' ? '' : `${config.prefix}/`;
  }

  async draft(): Promise<string> {
    return this.cache.draft();
  }

  put(prefix: string, localPath: string, ext: string): Promise<{ key: string; size: number; sha256: string }> {
    return takeOver(localPath, async () => {
      const { sha256, size } = await hashFile(localPath);
      const key = makeKey(prefix, sha256, ext);
      await guard('writing', () => uploadFile(this.client, this.objectOf(key), localPath, size, this.options));
      // New files are usually read soon. The blob is stored already, so failing to cache it is no error.
      await this.cache.adopt(localPath, parseKey(key).name, size).catch(() => rm(localPath, { force: true }));
      return { key, size, sha256 };
    });
  }

  async open(keys: string[]): Promise<OpenedBlobs> {
    const unique = [...new Set(keys)];
    const pins = await Promise.allSettled(unique.map((key) => this.cache.pin(key, parseKey(key).name)));
    const paths = new Map<string, string>();
    for (const [i, pin] of pins.entries()) if (pin.status === 'fulfilled') paths.set(unique[i] as string, pin.value);
    const release = () => {
      for (const key of paths.keys()) this.cache.unpin(parseKey(key).name);
      paths.clear();
    };
    const failed = pins.find((pin) => pin.status === 'rejected');
    if (failed) {
      release();
      throw failed.reason;
    }
    return { pathOf: (key) => findPath(paths, key), release };
  }

  async read(key: string): Promise<Readable> {
    const opened = await this.open([key]);
    return readVerified(opened.pathOf(key), key, opened.release);
  }

  async exists(key: string): Promise<boolean> {
    return (await this.findTime(key)) !== null;
  }

  async remove(key: string): Promise<void> {
    const { bucket, path } = this.objectOf(key);
    await guard('removing', () => this.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: path })));
    await this.cache.forget(parseKey(key).name);
  }

  async removeOld(key: string, olderThan: Date): Promise<boolean> {
    const changedAt = await this.findTime(key);
    if (changedAt && changedAt >= olderThan) return false;
    await this.remove(key);
    return true;
  }

  async *list(prefix: string): AsyncGenerator<{ key: string; size: number; modifiedAt: Date }> {
    const start = checkPrefix(prefix) === '' ? this.root : `${this.root}${prefix}/`;
    const pages = paginateListObjectsV2({ client: this.client }, { Bucket: this.config.bucket, Prefix: start });
    while (true) {
      const page = await guard('listing', () => pages.next());
      if (page.done) return;
      for (const { Key, Size, LastModified } of page.value.Contents ?? []) {
        const key = Key?.slice(this.root.length) ?? '';
        if (tryParseKey(key)) yield { key, size: Size ?? 0, modifiedAt: LastModified ?? new Date(0) };
      }
    }
  }

  async removeAll(prefix: string, onRemoved: () => void): Promise<void> {
    for await (const { key } of this.list(prefix)) {
      await this.remove(key);
      onRemoved();
    }
  }

  async sweepDrafts(olderThan: Date): Promise<number> {
    return (await this.cache.sweepDrafts(olderThan)) + (await this.abortUploads(olderThan));
  }

  async close(): Promise<void> {
    await this.cache.close();
    this.client.destroy();
  }

  /** When it was put; null when there is none. */
  private findTime(key: string): Promise<Date | null> {
    const { bucket, path } = this.objectOf(key);
    return guard('looking', async () => {
      try {
        const { LastModified } = await this.client.send(new HeadObjectCommand({ Bucket: bucket, Key: path }));
        return LastModified ?? new Date(0);
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    });
  }

  /** Parts of abandoned uploads are invisible but still billed. */
  private async abortUploads(olderThan: Date): Promise<number> {
    const Bucket = this.config.bucket;
    let aborted = 0;
    const found = await this.client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: this.root })).catch((error: unknown) => {
      // Not every compatible store can list uploads.
      if (isUnsupported(error)) return null;
      throw explainError(error, 'listing uploads');
    });
    for (const { Key, UploadId, Initiated } of found?.Uploads ?? []) {
      if (!Key || !tryParseKey(Key.slice(this.root.length)) || !UploadId || !Initiated || Initiated >= olderThan) continue;
      await guard('aborting an upload', () => this.client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })));
      aborted += 1;
    }
    return aborted;
  }
}

function findPath(paths: Map<string, string>, key: string): string {
  const path = paths.get(key);
  if (path === undefined) throw new Error(`blob ${key} is not open`);
  return path;
}

function isUnsupported(error: unknown): boolean {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return status === 400 || status === 404 || status === 405 || status === 501;
}

async function guard<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BlobError ? error : explainError(error, doing);
  }
}
