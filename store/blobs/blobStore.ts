import type { Readable } from 'node:stream';

/** Where files live: a folder, or S3-compatible storage. Keys are `<prefix>/<sha256>.<ext>` and never change content. */
export interface BlobStore {
  /** Where to write a new file before `put`: on the same file system as the store's own files, so that a rename suffices. */
  draft(): Promise<string>;
  /**
   * Makes a finished local file durable. The local file is consumed, even on failure. The same content gives the same key, and
   * putting it again renews its modification time, so that garbage collection spares it.
   */
  put(prefix: string, localPath: string, ext: string): Promise<{ key: string; size: number; sha256: string }>;
  /** Local paths of blobs for reading, pinned until released. */
  open(keys: string[]): Promise<OpenedBlobs>;
  /** The bytes as a stream. If they do not match the hash, the stream fails before it delivers the last bytes. */
  read(key: string): Promise<Readable>;
  exists(key: string): Promise<boolean>;
  /** Does nothing when there is no such blob. */
  remove(key: string): Promise<void>;
  /** Removes the blob unless it was put again since `olderThan`; returns whether it did. */
  removeOld(key: string, olderThan: Date): Promise<boolean>;
  /** Everything below a prefix ('' for all). Files whose names are no valid keys are not ours and are left out. */
  list(prefix: string): AsyncIterable<{ key: string; size: number; modifiedAt: Date }>;
  /** Removes everything below a prefix; calls `onRemoved` after each blob. */
  removeAll(prefix: string, onRemoved: () => void): Promise<void>;
  /** Removes drafts of writers that died; returns how many. */
  sweepDrafts(olderThan: Date): Promise<number>;
  close(): Promise<void>;
}

/** The part of a store that writes. */
export type DraftStore = Pick<BlobStore, 'draft' | 'put' | 'remove'>;

export interface OpenedBlobs {
  pathOf(key: string): string;
  release(): void;
}

/** The store works, but the blob is missing or damaged. An internal error: no caller can fix it. */
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
