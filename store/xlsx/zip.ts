/** Reads the central directory of a zip archive, zip64 included. Sizes are taken from it, so data descriptors can be ignored. */

import type { ByteSource } from './byteSource.ts';
import { refuseDamaged, refuseFormat, refuseTooLarge } from './fileRefusals.ts';
import type { ReadLimits } from './readLimits.ts';

export interface ZipEntry {
  name: string;
  method: number;
  crc: number;
  packedSize: number;
  /** As the file claims. */
  size: number;
  headerOffset: number;
}

/** Part names are compared without case, as the packaging standard says. */
export type ZipIndex = Map<string, ZipEntry>;

export function partKey(name: string): string {
  return name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase();
}

const END_SIGNATURE = 0x06054b50;
const END64_SIGNATURE = 0x06064b50;
const LOCATOR64_SIGNATURE = 0x07064b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_SIZE = 22;
const LOCATOR64_SIZE = 20;

interface Directory {
  entries: number;
  size: number;
  offset: number;
  /** Bytes before the archive shift every offset in it by this much. */
  shift: number;
}

export async function readZipIndex(source: ByteSource, limits: ReadLimits): Promise<ZipIndex> {
  const directory = await findDirectory(source);
  if (directory.entries > limits.entries)
    throw refuseTooLarge(`The file holds ${directory.entries} parts; at most ${limits.entries} are read.`);
  if (directory.offset + directory.shift < 0 || directory.offset + directory.shift + directory.size > source.size)
    throw refuseDamaged('its table of contents lies outside of the file');
  const bytes = await source.read(directory.offset + directory.shift, directory.size);
  const index: ZipIndex = new Map();
  let at = 0;
  for (let i = 0; i < directory.entries; i += 1) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE) throw refuseDamaged('its table of contents is cut off');
    const nameLength = bytes.readUInt16LE(at + 28);
    const extraLength = bytes.readUInt16LE(at + 30);
    const end = at + 46 + nameLength + extraLength + bytes.readUInt16LE(at + 32);
    if (end > bytes.length) throw refuseDamaged('its table of contents is cut off');
    const entry = readEntry(bytes, at, nameLength, extraLength, directory.shift);
    if (!entry.name.endsWith('/')) {
      const key = partKey(entry.name);
      // Two parts of one name: programs disagree which one counts.
      if (index.has(key)) throw refuseDamaged(`it holds the part ${entry.name} twice`);
      if (entry.headerOffset < 0 || entry.headerOffset + 30 + entry.packedSize > source.size)
        throw refuseDamaged(`the part ${entry.name} lies outside of the file`);
      index.set(key, entry);
    }
    at = end;
  }
  return index;
}

function readEntry(bytes: Buffer, at: number, nameLength: number, extraLength: number, shift: number): ZipEntry {
  const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
  if (bytes.readUInt16LE(at + 8) & 1)
    throw refuseFormat('The file is a zip archive with a password.', 'Send the workbook without a password.');
  const entry: ZipEntry = {
    name,
    method: bytes.readUInt16LE(at + 10),
    crc: bytes.readUInt32LE(at + 16),
    packedSize: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    headerOffset: bytes.readUInt32LE(at + 42),
  };
  readZip64Sizes(entry, bytes.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength));
  entry.headerOffset += shift;
  return entry;
}

/** The zip64 extra field holds, in this order, only those values that did not fit. */
function readZip64Sizes(entry: ZipEntry, extra: Buffer): void {
  for (let at = 0; at + 4 <= extra.length; ) {
    const id = extra.readUInt16LE(at);
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (id === 1 && end <= extra.length) {
      let value = at + 4;
      const next = (): number => {
        if (value + 8 > end) throw refuseDamaged('a zip64 field is cut off');
        value += 8;
        return Number(extra.readBigUInt64LE(value - 8));
      };
      if (entry.size === 0xffffffff) entry.size = next();
      if (entry.packedSize === 0xffffffff) entry.packedSize = next();
      if (entry.headerOffset === 0xffffffff) entry.headerOffset = next();
      return;
    }
    at = end;
  }
}

async function findDirectory(source: ByteSource): Promise<Directory> {
  // The end record is followed by a comment of at most 64 KiB.
  const tailStart = Math.max(0, source.size - END_SIZE - 0xffff - LOCATOR64_SIZE);
  const tail = await source.read(tailStart, source.size - tailStart);
  let end = tail.length - END_SIZE;
  while (end >= 0 && !(tail.readUInt32LE(end) === END_SIGNATURE && end + END_SIZE + tail.readUInt16LE(end + 20) <= tail.length)) end -= 1;
  if (end < 0) throw refuseDamaged('its end is missing, as after an interrupted transfer');
  const directory = {
    entries: tail.readUInt16LE(end + 10),
    size: tail.readUInt32LE(end + 12),
    offset: tail.readUInt32LE(end + 16),
    shift: 0,
  };
  let directoryEnd = tailStart + end;
  const locator = end - LOCATOR64_SIZE;
  // Some programs write the zip64 records although nothing needs them.
  if (locator >= 0 && tail.readUInt32LE(locator) === LOCATOR64_SIGNATURE) {
    directoryEnd = Number(tail.readBigUInt64LE(locator + 8));
    const record = directoryEnd + 56 <= source.size ? await source.read(directoryEnd, 56) : Buffer.alloc(0);
    if (record.length < 56 || record.readUInt32LE(0) !== END64_SIGNATURE) throw refuseDamaged('its zip64 record is missing');
    directory.entries = Number(record.readBigUInt64LE(32));
    directory.size = Number(record.readBigUInt64LE(40));
    directory.offset = Number(record.readBigUInt64LE(48));
  }
  if (directory.size > source.size) throw refuseDamaged('its table of contents lies outside of the file');
  const first = directory.offset + 4 <= source.size ? await source.read(directory.offset, 4) : Buffer.alloc(0);
  if (directory.entries > 0 && (first.length < 4 || first.readUInt32LE(0) !== ENTRY_SIGNATURE))
    directory.shift = directoryEnd - directory.size - directory.offset;
  return directory;
}

/** Where the packed bytes of an entry begin: its local header has a length of its own. */
export async function findEntryData(source: ByteSource, entry: ZipEntry): Promise<number> {
  const header = await source.read(entry.headerOffset, 30);
  if (header.length < 30 || header.readUInt32LE(0) !== LOCAL_SIGNATURE)
    throw refuseDamaged(`the part ${entry.name} is not where it should be`);
  const start = entry.headerOffset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + entry.packedSize > source.size) throw refuseDamaged(`the part ${entry.name} is cut off`);
  return start;
}
