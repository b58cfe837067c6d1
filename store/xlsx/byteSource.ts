/** Random access to the bytes of a file or of memory, so that a large file is never read as a whole. */

import { type FileHandle, open } from 'node:fs/promises';

export interface ByteSource {
  size: number;
  /** May answer with fewer bytes than asked for only at the end. */
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export async function openSource(input: string | Uint8Array): Promise<ByteSource> {
  return typeof input === 'string' ? openFile(input) : wrapBytes(input);
}

function wrapBytes(bytes: Uint8Array): ByteSource {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    size: buffer.length,
    read: async (offset, length) => buffer.subarray(offset, Math.min(buffer.length, offset + length)),
    close: async () => {},
  };
}

/** Files up to this size are read in one go, instead of with about twenty reads. */
const SMALL_FILE = 2 * 1024 * 1024;

async function openFile(path: string): Promise<ByteSource> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    if (size > SMALL_FILE) return wrapHandle(handle, size);
    const bytes = await handle.readFile();
    await handle.close();
    return wrapBytes(bytes);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function wrapHandle(handle: FileHandle, size: number): ByteSource {
  return {
    size,
    read: async (offset, length) => {
      const wanted = Math.max(0, Math.min(length, size - offset));
      const buffer = Buffer.allocUnsafe(wanted);
      let filled = 0;
      while (filled < wanted) {
        const { bytesRead } = await handle.read(buffer, filled, wanted - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    },
    close: () => handle.close(),
  };
}
