import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '../../core/errors.ts';

export const mostFileBytes = 100 * 1024 * 1024;

const bufferedBytes = 1024 * 1024;

/** Gives a path where a file can be written before it is known whether it is wanted. */
export type MakeDraft = () => Promise<string>;

/** A file on disk, counted and hashed. */
export interface Draft {
  path: string;
  size: number;
  sha256: string;
}

/** Writes a file while it arrives. If anything fails, or it is too large, no file remains. */
export async function saveDraft(chunks: AsyncIterable<Buffer>, makeDraft: MakeDraft): Promise<Draft> {
  const path = await makeDraft();
  const hash = createHash('sha256');
  let size = 0;
  try {
    const counted = async function* () {
      for await (const chunk of chunks) {
        size += chunk.length;
        if (size > mostFileBytes) throw fileTooLarge();
        hash.update(chunk);
        yield chunk;
      }
    };
    // Chunks of the network are small: those that come while others are written are written together.
    await pipeline(counted, createWriteStream(path, { highWaterMark: bufferedBytes }));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return { path, size, sha256: hash.digest('hex') };
}

export function fileTooLarge(): DomainError {
  return new DomainError('too-large', 'The file is larger than 100 MiB.', 'Split the file, or leave out what is not needed.');
}
