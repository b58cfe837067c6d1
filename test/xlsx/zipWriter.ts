/** A zip writer that can also write what good writers never do. */

import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  name: string;
  content: string | Uint8Array;
  stored?: boolean;
  /** Sizes and checksum behind the data instead of in front of it, as streaming writers do. */
  descriptor?: boolean;
  zip64?: boolean;
  /** What the directory claims, where it shall lie. */
  claimedSize?: number;
  claimedCrc?: number;
  method?: number;
  flags?: number;
}

export interface ZipOptions {
  zip64?: boolean;
  /** Bytes in front of the archive. */
  prefix?: Uint8Array;
  comment?: string;
  claimedEntries?: number;
}

export function writeZip(parts: ZipPart[], options: ZipOptions = {}): Buffer {
  const chunks: Buffer[] = [];
  let offset = 0;
  const put = (chunk: Buffer): void => {
    chunks.push(chunk);
    offset += chunk.length;
  };
  const directory = parts.map((part) => {
    const raw = Buffer.from(part.content as Uint8Array);
    const packed = part.stored ? raw : deflateRawSync(raw);
    const crc = part.claimedCrc ?? crc32(raw);
    const start = offset;
    const name = Buffer.from(part.name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE((part.flags ?? 0) | (part.descriptor ? 8 : 0), 6);
    local.writeUInt16LE(part.method ?? (part.stored ? 0 : 8), 8);
    if (!part.descriptor) {
      local.writeUInt32LE(crc, 14);
      local.writeUInt32LE(packed.length, 18);
      local.writeUInt32LE(raw.length, 22);
    }
    local.writeUInt16LE(name.length, 26);
    put(Buffer.concat([local, name, packed]));
    if (part.descriptor) {
      const descriptor = Buffer.alloc(16);
      descriptor.writeUInt32LE(0x08074b50, 0);
      descriptor.writeUInt32LE(crc, 4);
      descriptor.writeUInt32LE(packed.length, 8);
      descriptor.writeUInt32LE(raw.length, 12);
      put(descriptor);
    }
    return writeEntry(part, name, crc, packed.length, part.claimedSize ?? raw.length, start);
  });
  const directoryStart = offset;
  for (const entry of directory) put(entry);
  const directorySize = offset - directoryStart;
  if (options.zip64) put(writeEnd64(parts.length, directorySize, directoryStart, offset));
  const comment = Buffer.from(options.comment ?? '');
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(options.zip64 ? 0xffff : (options.claimedEntries ?? parts.length), 8);
  end.writeUInt16LE(options.zip64 ? 0xffff : (options.claimedEntries ?? parts.length), 10);
  end.writeUInt32LE(options.zip64 ? 0xffffffff : directorySize, 12);
  end.writeUInt32LE(options.zip64 ? 0xffffffff : directoryStart, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([Buffer.from(options.prefix ?? []), ...chunks, end, comment]);
}

function writeEntry(part: ZipPart, name: Buffer, crc: number, packedSize: number, size: number, start: number): Buffer {
  const extra = Buffer.alloc(part.zip64 ? 28 : 0);
  if (part.zip64) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(24, 2);
    extra.writeBigUInt64LE(BigInt(size), 4);
    extra.writeBigUInt64LE(BigInt(packedSize), 12);
    extra.writeBigUInt64LE(BigInt(start), 20);
  }
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE((part.flags ?? 0) | (part.descriptor ? 8 : 0), 8);
  entry.writeUInt16LE(part.method ?? (part.stored ? 0 : 8), 10);
  entry.writeUInt32LE(crc, 16);
  entry.writeUInt32LE(part.zip64 ? 0xffffffff : packedSize, 20);
  entry.writeUInt32LE(part.zip64 ? 0xffffffff : size, 24);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt16LE(extra.length, 30);
  entry.writeUInt32LE(part.zip64 ? 0xffffffff : start, 42);
  return Buffer.concat([entry, name, extra]);
}

function writeEnd64(count: number, size: number, start: number, at: number): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(start), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(at), 64);
  end.writeUInt32LE(1, 72);
  return end;
}
