/** Unpacks one part of the archive in chunks, counting what really comes out. */

import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw, inflateRawSync, type ZlibOptions } from 'node:zlib';
import type { ByteSource } from './byteSource.ts';
import { refuseDamaged, refuseFormat, refuseTooLarge } from './fileRefusals.ts';
import type { ReadLimits } from './readLimits.ts';
import { findEntryData, type ZipEntry, type ZipIndex } from './zip.ts';

const PACKED_CHUNK = 128 * 1024;
const UNPACKED_CHUNK = 256 * 1024;
/** How many unpacked bytes may be buffered: switching threads is slow on a busy machine, so zlib works ahead. */
const UNPACKED_AHEAD = 4 * 1024 * 1024;
/** Packed parts up to this size are not worth a stream of their own. */
const SMALL_PART = 64 * 1024;

/** Bytes unpacked so far, over several parts of a file. Together with the check of claimed sizes it bounds the whole. */
export class UnpackBudget {
  private used = 0;

  constructor(private readonly limits: ReadLimits) {}

  spend(bytes: number): void {
    this.used += bytes;
    if (this.used > this.limits.unpackedBytes) throw refuseUnpacked(this.limits);
  }
}

function refuseUnpacked(limits: ReadLimits): Error {
  return refuseTooLarge(`The workbook unpacks to more than ${limits.unpackedBytes} bytes.`);
}

function refuseRatio(entry: ZipEntry, limits: ReadLimits): Error {
  return refuseTooLarge(
    `The part ${entry.name} unpacks to more than ${limits.ratio} times its size.`,
    'Remove formatted but empty rows and columns, and save the workbook again.',
  );
}

/** Checks the sizes that the file claims, for all parts including those that are never read. Claims can only lead to a refusal. */
export function checkClaimedSizes(index: ZipIndex, limits: ReadLimits): void {
  let total = 0;
  for (const entry of index.values()) {
    total += entry.size;
    if (total > limits.unpackedBytes) throw refuseUnpacked(limits);
    if (entry.size > limits.ratioFromBytes && entry.size > limits.ratio * entry.packedSize) throw refuseRatio(entry, limits);
  }
}

export interface UnpackContext {
  source: ByteSource;
  limits: ReadLimits;
  budget: UnpackBudget;
  signal?: AbortSignal | undefined;
}

export async function* unpackEntry(context: UnpackContext, entry: ZipEntry): AsyncGenerator<Buffer, void, undefined> {
  const { limits, budget, signal } = context;
  if (entry.method !== 0 && entry.method !== 8)
    throw refuseFormat(`The part ${entry.name} is packed by a method (${entry.method}) that workbooks do not use.`);
  const packed = readPacked(context, entry);
  let size = 0;
  let crc = 0;
  const inflate = entry.packedSize <= SMALL_PART ? inflateSmall : inflateLarge;
  for await (const chunk of entry.method === 0 ? packed : inflate(packed, entry, limits)) {
    signal?.throwIfAborted();
    size += chunk.length;
    budget.spend(chunk.length);
    if (size > limits.ratioFromBytes && size > limits.ratio * entry.packedSize) throw refuseRatio(entry, limits);
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (size !== entry.size || crc !== entry.crc) throw refuseDamaged(`the checksum of the part ${entry.name} does not match`);
}

async function* readPacked({ source }: UnpackContext, entry: ZipEntry): AsyncGenerator<Buffer> {
  const start = await findEntryData(source, entry);
  for (let done = 0; done < entry.packedSize; done += PACKED_CHUNK) {
    yield await source.read(start + done, Math.min(PACKED_CHUNK, entry.packedSize - done));
  }
}

async function* inflateSmall(packed: AsyncGenerator<Buffer>, entry: ZipEntry, limits: ReadLimits): AsyncGenerator<Buffer> {
  for await (const bytes of packed) {
    try {
      yield inflateRawSync(bytes, { maxOutputLength: Math.max(limits.ratioFromBytes, limits.ratio * entry.packedSize) + 1 });
    } catch (error) {
      if (error instanceof RangeError) throw refuseRatio(entry, limits);
      throw refuseDamaged(`the part ${entry.name} cannot be unpacked`, error);
    }
  }
}

async function* inflateLarge(packed: AsyncGenerator<Buffer>, entry: ZipEntry): AsyncGenerator<Buffer> {
  // zlib works on its own thread: the next chunk is unpacked while this one is scanned.
  const stream = createInflateRaw({ chunkSize: UNPACKED_CHUNK, readableHighWaterMark: UNPACKED_AHEAD } as ZlibOptions);
  pipeline(Readable.from(packed, { objectMode: true, highWaterMark: 2 }), stream, () => {});
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw isZlibError(error) ? refuseDamaged(`the part ${entry.name} cannot be unpacked`, error) : error;
  } finally {
    stream.destroy();
  }
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_');
}

/** A small part as a whole. */
export async function unpackWhole(context: UnpackContext, entry: ZipEntry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of unpackEntry(context, entry)) {
    size += chunk.length;
    if (size > context.limits.partBytes) throw refuseTooLarge(`The part ${entry.name} is larger than ${context.limits.partBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
