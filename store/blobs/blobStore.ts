import type { Readable } from 'node:stream';

/** Where files live: a folder, or S3-compatible storage. Keys are `<prefix>/<sha256>.<ext>` and never change content. */
export interface BlobStore {
  /** Where to write a new file before `put`: on the same file system as the store's own files, so that a rename suffices. */
  draft(): Promise<string>;
  /** Makes a finished local file durable; the file is taken over. The same content gives the same key. */
  put(prefix: string, localPath: string, ext: string): Promise<{ key: string; size: number; sha256: string }>;
  /** Local paths of blobs for reading, pinned until released. */
  open(keys: string[]): Promise<{ pathOf(key: string): string; release(): void }>;
  /** The bytes as a stream, verified against the hash. */
  read(key: string): Promise<Readable>;
  exists(key: string): Promise<boolean>;
  remove(key: string): Promise<void>;
  /** Everything below a prefix, for garbage collection. */
  list(prefix: string): AsyncIterable<{ key: string; size: number; modifiedAt: Date }>;
  close(): Promise<void>;
}
