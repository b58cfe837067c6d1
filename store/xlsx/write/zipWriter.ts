import { once } from 'node:events';
import { crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import type { Sink } from '../../blobs/spool.ts';

export interface ZipEntryWriter {
  write(content: string | Uint8Array): Promise<void>;
  end(): Promise<void>;
}

interface Written {
  name: Buffer;
  crc: number;
  size: number;
  packedSize: number;
  offset: number;
  isLong: boolean;
}

/** The highest value of a field of 4 bytes stands for "see the zip64 field". */
const most32 = 0xffffffff;
const most16 = 0xffff;
const deflated = 8;
/** Names are UTF-8; sizes stand behind the data, because they are not known before it. */
const flags = 0x0808;
const [plainVersion, zip64Version] = [20, 45];
/** 1 January 1980, the first day that the format knows: the same content gives the same bytes. */
const day = 0x0021;

/**
 * Writes a zip archive piece by piece, one entry after the other. An entry that may grow beyond 4 GiB must be opened as `long`:
 * its header says so before its size is known.
 */
export class ZipWriter {
  private readonly entries: Written[] = [];
  private offset = 0;

  constructor(private readonly sink: Sink) {}

  async openEntry(name: string, { long = false } = {}): Promise<ZipEntryWriter> {
    const entry: Written = { name: Buffer.from(name), crc: 0, size: 0, packedSize: 0, offset: this.offset, isLong: long };
    await this.put(localHeader(entry));
    const packer = new Packer((piece) => {
      entry.packedSize += piece.length;
      return this.put(piece);
    });
    return {
      write: (content) => {
        const bytes = typeof content === 'string' ? Buffer.from(content) : content;
        entry.crc = crc32(bytes, entry.crc);
        entry.size += bytes.length;
        return packer.write(bytes);
      },
      end: async () => {
        await packer.end();
        if (!entry.isLong && Math.max(entry.size, entry.packedSize) >= most32)
          throw new Error(`the entry ${name} is longer than announced`);
        await this.put(descriptor(entry));
        this.entries.push(entry);
      },
    };
  }

  async addEntry(name: string, content: string): Promise<void> {
    const entry = await this.openEntry(name);
    await entry.write(content);
    await entry.end();
  }

  /** The directory; nothing may be added after it. */
  async finish(): Promise<void> {
    const start = this.offset;
    for (const entry of this.entries) await this.put(directoryEntry(entry));
    await this.put(directoryEnd({ count: this.entries.length, size: this.offset - start, start }));
  }

  private async put(bytes: Uint8Array): Promise<void> {
    this.offset += bytes.length;
    await this.sink(bytes);
  }
}

/** Compresses in the background: a piece is waited for only when the next one comes. */
class Packer {
  private readonly deflate: DeflateRaw = createDeflateRaw({ level: 1, chunkSize: 256 * 1024 });
  private packed: Uint8Array[] = [];
  private busy: Promise<void> = Promise.resolve();

  constructor(private readonly put: Sink) {
    this.deflate.on('data', (piece: Buffer) => this.packed.push(piece));
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.busy;
    this.busy = new Promise((resolve, reject) => {
      this.deflate.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    // A failure is reported by the next call; until then it must not count as an unhandled rejection.
    this.busy.catch(() => {});
    await this.handOn();
  }

  async end(): Promise<void> {
    await this.busy;
    this.deflate.end();
    await once(this.deflate, 'end');
    await this.handOn();
  }

  private async handOn(): Promise<void> {
    const pieces = this.packed;
    this.packed = [];
    for (const piece of pieces) await this.put(piece);
  }
}

function localHeader({ name, isLong }: Written): Buffer {
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(isLong ? zip64Version : plainVersion, 4);
  head.writeUInt16LE(flags, 6);
  head.writeUInt16LE(deflated, 8);
  head.writeUInt16LE(day, 12);
  if (isLong) head.fill(0xff, 18, 26);
  const extra = isLong ? zip64Field([0, 0]) : Buffer.alloc(0);
  head.writeUInt16LE(name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, name, extra]);
}

function descriptor({ crc, size, packedSize, isLong }: Written): Buffer {
  const bytes = Buffer.alloc(isLong ? 24 : 16);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(crc, 4);
  if (isLong) {
    bytes.writeBigUInt64LE(BigInt(packedSize), 8);
    bytes.writeBigUInt64LE(BigInt(size), 16);
  } else {
    bytes.writeUInt32LE(packedSize, 8);
    bytes.writeUInt32LE(size, 12);
  }
  return bytes;
}

function directoryEntry({ name, crc, size, packedSize, offset, isLong }: Written): Buffer {
  const isFar = offset >= most32;
  const extra = isLong || isFar ? zip64Field([...(isLong ? [size, packedSize] : []), ...(isFar ? [offset] : [])]) : Buffer.alloc(0);
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(isLong || isFar ? zip64Version : plainVersion, 4);
  head.writeUInt16LE(isLong || isFar ? zip64Version : plainVersion, 6);
  head.writeUInt16LE(flags, 8);
  head.writeUInt16LE(deflated, 10);
  head.writeUInt16LE(day, 14);
  head.writeUInt32LE(crc, 16);
  head.writeUInt32LE(isLong ? most32 : packedSize, 20);
  head.writeUInt32LE(isLong ? most32 : size, 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt16LE(extra.length, 30);
  head.writeUInt32LE(isFar ? most32 : offset, 42);
  return Buffer.concat([head, name, extra]);
}

function zip64Field(values: number[]): Buffer {
  const field = Buffer.alloc(4 + values.length * 8);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(values.length * 8, 2);
  for (const [i, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + i * 8);
  return field;
}

function directoryEnd({ count, size, start }: { count: number; size: number; start: number }): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(count, most16), 8);
  end.writeUInt16LE(Math.min(count, most16), 10);
  end.writeUInt32LE(Math.min(size, most32), 12);
  end.writeUInt32LE(Math.min(start, most32), 16);
  if (count < most16 && size < most32 && start < most32) return end;
  const record = Buffer.alloc(56 + 20);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(zip64Version, 12);
  record.writeUInt16LE(zip64Version, 14);
  record.writeBigUInt64LE(BigInt(count), 24);
  record.writeBigUInt64LE(BigInt(count), 32);
  record.writeBigUInt64LE(BigInt(size), 40);
  record.writeBigUInt64LE(BigInt(start), 48);
  record.writeUInt32LE(0x07064b50, 56);
  record.writeBigUInt64LE(BigInt(start + size), 64);
  record.writeUInt32LE(1, 72);
  return Buffer.concat([record, end]);
}
