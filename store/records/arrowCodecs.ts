// biome-ignore-all lint/style/noNonNullAssertion: positions are checked against the end of the input

import { AsyncLocalStorage } from 'node:async_hooks';
import { CompressionType, compressionRegistry } from 'apache-arrow';
import { Decompress } from 'fzstd';
import { refuseLarge } from './recordFile.ts';

/** Bytes that may still be unpacked from the file that is being read. */
const budget = new AsyncLocalStorage<{ left: number }>();

/** Lets Arrow unpack buffers while `work` runs, up to so many bytes in all. */
export function withUnpacking<T>(left: { left: number }, work: () => Promise<T>): Promise<T> {
  return budget.run(left, work);
}

class Output {
  private bytes = new Uint8Array(64 * 1024);
  length = 0;

  reserve(more: number): Uint8Array {
    spend(more);
    if (this.length + more > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    return this.bytes;
  }

  add(chunk: Uint8Array): void {
    this.reserve(chunk.length).set(chunk, this.length);
    this.length += chunk.length;
  }

  finish(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}

function spend(bytes: number): void {
  const left = budget.getStore();
  if (!left) throw new Error('Arrow unpacks outside of withUnpacking');
  left.left -= bytes;
  if (left.left < 0) throw refuseLarge('The file unpacks to more than it may.');
}

function decodeZstd(packed: Uint8Array): Uint8Array {
  const out = new Output();
  const stream = new Decompress((chunk) => out.add(chunk));
  stream.push(packed, true);
  return out.finish();
}

/** The frame format of LZ4, with blocks that may refer to earlier ones. Checksums are not checked. */
function decodeLz4(packed: Uint8Array): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (view.getUint32(0, true) !== 0x184d2204) throw new RangeError('not a frame of LZ4');
  const flags = view.getUint8(4);
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  const out = new Output();
  for (let size = view.getUint32(at, true); size !== 0; size = view.getUint32(at, true)) {
    at += 4;
    const length = size & 0x7fffffff;
    if (at + length > packed.length) throw new RangeError('a block of LZ4 is cut off');
    const block = packed.subarray(at, at + length);
    if (size >>> 31 === 1) out.add(block);
    else decodeBlock(block, out);
    at += length + (flags & 0x10 ? 4 : 0);
  }
  return out.finish();
}

function decodeBlock(block: Uint8Array, out: Output): void {
  let at = 0;
  const readLength = (start: number) => {
    let length = start;
    for (let more = start === 15 ? 255 : 0; more === 255; length += more) {
      if (at >= block.length) throw new RangeError('a length of LZ4 is cut off');
      more = block[at++]!;
    }
    return length;
  };
  while (at < block.length) {
    const token = block[at++]!;
    const literals = readLength(token >> 4);
    if (at + literals > block.length) throw new RangeError('literals of LZ4 are cut off');
    out.add(block.subarray(at, at + literals));
    at += literals;
    if (at >= block.length) return;
    if (at + 2 > block.length) throw new RangeError('an offset of LZ4 is cut off');
    const offset = block[at]! | (block[at + 1]! << 8);
    at += 2;
    const length = readLength(token & 15) + 4;
    if (offset === 0 || offset > out.length) throw new RangeError('an offset of LZ4 leads outside');
    const bytes = out.reserve(length);
    // Byte by byte: what is copied may overlap with where it goes.
    for (const end = out.length + length; out.length < end; out.length += 1) bytes[out.length] = bytes[out.length - offset]!;
  }
}

compressionRegistry.set(CompressionType.ZSTD, { decode: decodeZstd });
compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: decodeLz4 });
