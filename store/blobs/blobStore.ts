import type { Readable } from 'node:stream';

/** Where files live: a folder, or S3-compatible storage. Keys are `<prefix>/<sha256>.<ext>` and never change content. */
export interface BlobStore {
  /** Where to write a new file before `put`: on the same file system as the store's own files, so that a rename suffices. */
  draft(): Promise<string>;
  /**
   * Makes a finished local file durable; the file is taken over, also when that fails. The same content gives the same key, and its time of
   * last change starts anew, so that garbage collection does not take what has just been put.
   */
  put(prefix: string, localPath: string, ext: string): Promise<{ key: string; size: number; sha256: string }>;
  /** Local paths of blobs for reading, pinned until released. */
  open(keys: string[]): Promise<OpenedBlobs>;
  /** The bytes as a stream, verified against the hash: where they do not match, it fails before the last of them. */
  read(key: string): Promise<Readable>;
  exists(key: string): Promise<boolean>;
  /** No error when there is none. */
  remove(key: string): Promise<void>;
  /** Removes it unless it was put since, by whoever has the same content; says whether it did. */
  removeOld(key: string, olderThan: Date): Promise<boolean>;
  /** Everything below a prefix (all of it for ''), for garbage collection. What has no key of this form is not ours. */
  list(prefix: string): AsyncIterable<{ key: string; size: number; modifiedAt: Date }>;
  /** Removes what writers left behind that ended in the middle; returns how many. */
  sweepDrafts(olderThan: Date): Promise<number>;
  close(): Promise<void>;
}

export interface OpenedBlobs {
  pathOf(key: string): string;
  release(): void;
}

/** The store is there and the blob is not, or not as it was put. Nothing a caller can mend: an internal error. */
export class BlobError extends Error {
  override readonly name = 'BlobError';

  constructor(
    readonly kind: 'missing' | 'corrupt',
    readonly key: string,
    options?: ErrorOptions,
  ) {
    super(
      kind === 'missing' ? `blob ${key} is missing` : `blob ${key} is corrupt: its content does not have the hash in its name`,
      options,
    );
  }
}
