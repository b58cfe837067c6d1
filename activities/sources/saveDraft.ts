import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { DomainError } from '../../core/errors.ts';

export const mostFileBytes = 100 * 1024 * 1024;

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
    const out = await open(path, 'w');
    try {
      const writer = new Writer(out);
      for await (const chunk of chunks) {
        size += chunk.length;
        if (size > mostFileBytes) throw fileTooLarge();
        hash.update(chunk);
        await writer.add(chunk);
      }
      await writer.finish();
    } finally {
      await out.close();
    }
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return { path, size, sha256: hash.digest('hex') };
}

/** Bytes of a write: one for each chunk of the network would take as long as all else together. */
const writtenAtOnce = 1024 * 1024;

/** Writes while further chunks come. */
class Writer {
  private chunks: Buffer[] = [];
  private size = 0;
  private writing: Promise<unknown> = Promise.resolve();

  constructor(private readonly out: FileHandle) {}

  async add(chunk: Buffer): Promise<void> {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size >= writtenAtOnce) await this.write();
  }

  async finish(): Promise<void> {
    await this.write();
    await this.writing;
  }

  private async write(): Promise<void> {
    const { chunks } = this;
    this.chunks = [];
    this.size = 0;
    await this.writing;
    this.writing = this.out.appendFile(Buffer.concat(chunks));
    // Who writes next hears of it.
    this.writing.catch(() => {});
  }
}

export function fileTooLarge(): DomainError {
  return new DomainError('too-large', 'The file is larger than 100 MiB.', 'Split the file, or leave out what is not needed.');
}
