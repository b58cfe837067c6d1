/**
 * The part of an unpacked stream that is not scanned yet. A scanner takes what is complete; the rest moves to the front
 * and the next chunk is put behind it, so that no more than one element and one chunk are held.
 */

import { refuseTooLarge } from './fileRefusals.ts';

/** Zero bytes behind the data: a scanner may look a few bytes ahead without asking. */
const PADDING = 64;

export class ByteWindow {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;

  constructor(private readonly elementBytes: number) {}

  append(chunk: Buffer): void {
    const rest = this.end - this.start;
    if (rest > this.elementBytes)
      throw refuseTooLarge(
        `One element of the workbook is larger than ${this.elementBytes} bytes.`,
        'Shorten the longest text in the workbook.',
      );
    const needed = rest + chunk.length + PADDING;
    const target = needed > this.bytes.length ? Buffer.allocUnsafe(this.bytes.length === 0 ? needed : needed * 2) : this.bytes;
    this.bytes.copy(target, 0, this.start, this.end);
    chunk.copy(target, rest);
    target.fill(0, rest + chunk.length, needed);
    this.bytes = target;
    this.start = 0;
    this.end = rest + chunk.length;
  }
}
