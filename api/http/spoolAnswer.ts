import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { sentBytes } from './byteBudget.ts';

/** What is read and sent at a time. */
export const pieceBytes = 64 * 1024;

/** A file takes room on the disk, which is counted as less memory. */
const bytesOnDiskPerByte = 16;

export interface SpooledAnswer {
  size: number;
  /** What it counts for in the budget. */
  cost: number;
  data: Buffer | Readable;
}

/**
 * Makes a whole answer before it is sent, in a file where it is long: a slow reader then holds neither the answer nor the engine
 * that made it. `most.refuse` is thrown for more than `most.bytes`.
 */
export async function spoolAnswer(
  blobs: BlobStore,
  source: Iterable<Buffer> | Readable,
  most?: { bytes: number; refuse(): Error },
): Promise<SpooledAnswer> {
  const path = await blobs.draft();
  let file: FileHandle | null = null;
  let waiting: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of source) {
      size += (piece as Buffer).length;
      if (most && size > most.bytes) throw most.refuse();
      waiting.push(piece as Buffer);
      if (size <= sentBytes) continue;
      file ??= await open(path, 'w', 0o600);
      await file.writev(waiting);
      waiting = [];
    }
  } catch (error) {
    if (file) await rm(path, { force: true });
    throw error;
  } finally {
    await file?.close();
  }
  if (!file) return { size, cost: size, data: Buffer.concat(waiting) };
  const data = createReadStream(path, { highWaterMark: pieceBytes });
  data.once('close', () => rm(path, { force: true }));
  return { size, cost: Math.max(sentBytes, size / bytesOnDiskPerByte), data };
}

export function* cutPieces(data: string | Buffer): Generator<Buffer> {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
