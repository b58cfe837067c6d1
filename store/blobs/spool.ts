import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { BlobStore } from './blobStore.ts';

/** Where the bytes of a file go; the next piece is given when the one before was taken. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

export interface Spooled<T> {
  body: Readable;
  bytes: number;
  result: T;
}

/**
 * Writes a file for one answer, so that what goes wrong is known before the answer begins, and a slow reader holds up nobody.
 * The file has no name any more when the answer begins; it is gone when it has been read.
 */
export async function spoolFile<T>(
  blobs: Pick<BlobStore, 'draft'>,
  signal: AbortSignal | undefined,
  write: (sink: Sink) => Promise<T>,
): Promise<Spooled<T>> {
  const path = await blobs.draft();
  try {
    const file = await open(path, 'w+');
    try {
      let bytes = 0;
      const result = await write(async (piece) => {
        signal?.throwIfAborted();
        for (let done = 0; done < piece.length; ) done += (await file.write(piece, done)).bytesWritten;
        bytes += piece.length;
      });
      return { body: file.createReadStream({ start: 0 }), bytes, result };
    } catch (error) {
      await file.close();
      throw error;
    }
  } finally {
    await rm(path, { force: true });
  }
}
