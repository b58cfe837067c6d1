import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import type { MakeDraft } from '../../activities/sources/saveDraft.ts';
import { DomainError } from '../../core/errors.ts';

/** Longer bodies wait in a file, so that slow senders and those who wait for others hold little memory. */
const shortBytes = 64 * 1024;

export interface ReceivedBody {
  size: number;
  /** What reading it takes, by its size and by how many values its text may have. */
  cost: number;
  /** The whole body; can be read once. */
  read(): Promise<Buffer>;
  discard(): Promise<void>;
}

/** Takes a body to its end. Refuses one that is larger than `limit`. */
export async function receiveBody(chunks: AsyncIterable<Buffer>, limit: number, makeDraft: MakeDraft): Promise<ReceivedBody> {
  let waiting: Buffer[] = [];
  let size = 0;
  let values = 0;
  let path: string | null = null;
  let file: FileHandle | null = null;
  const discard = async () => {
    if (path !== null) await rm(path, { force: true });
  };
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > limit) throw bodyTooLarge(limit);
      values += countValues(chunk);
      waiting.push(chunk);
      if (size <= shortBytes) continue;
      path ??= await makeDraft();
      file ??= await open(path, 'w', 0o600);
      await file.writev(waiting);
      waiting = [];
    }
    await file?.close();
  } catch (error) {
    await file?.close();
    await discard();
    throw error;
  }
  const read = async () => {
    if (path === null) return Buffer.concat(waiting);
    const bytes = await readFile(path);
    await discard();
    return bytes;
  };
  return { size, cost: path === null ? 0 : size * bytesPerByte + values * bytesPerValue, read, discard };
}

export function bodyTooLarge(limit: number): DomainError {
  return new DomainError('too-large', `The body is larger than ${limit / 1024} KiB.`, 'Send it in smaller parts.');
}

/** Measured: the body, its text, and what is made of it until it is stored. */
const bytesPerByte = 5;
/** An empty object takes 56 bytes and its place in a list. */
const bytesPerValue = 64;

const [comma, brace, bracket] = [',', '{', '['].map((sign) => sign.charCodeAt(0));

/** Commas and brackets, those inside of texts too. */
function countValues(chunk: Buffer): number {
  let count = 0;
  for (const byte of chunk) if (byte === comma || byte === brace || byte === bracket) count += 1;
  return count;
}
