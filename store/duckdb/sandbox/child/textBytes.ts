import { ByteBuffer } from '../../../byteBuffer.ts';

/** Bytes of JSON: numbers and days are written digit by digit, without a string for each. */
export class TextBytes extends ByteBuffer {
  /** UTF-8 as a text of JSON. False: some of it cannot stand there as it is, and nothing was added. */
  putPlainText(bytes: Uint8Array, from: number, to: number): boolean {
    this.reserve(to - from + 2);
    const { bytes: target, length } = this;
    target[length] = quote;
    let at = length + 1;
    for (let i = from; i < to; i += 1) {
      const byte = bytes[i] as number;
      if (byte < space || byte === quote || byte === backslash) return false;
      target[at] = byte;
      at += 1;
    }
    target[at] = quote;
    this.length = at + 1;
    return true;
  }

  /** A whole number that is not negative and below 2^31, with zeros before it. */
  putDigits(value: number, width: number): void {
    this.reserve(width);
    const { bytes: target, length } = this;
    let rest = value | 0;
    for (let i = length + width - 1; i >= length; i -= 1) {
      const tenth = (rest / 10) | 0;
      target[i] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.length = length + width;
  }

  /** Any whole number that JavaScript holds exactly, but for -0. */
  putInteger(value: number): void {
    const digits = Math.abs(value);
    if (digits > 0x7fffffff) {
      this.put(String(value));
      return;
    }
    if (value < 0) this.put('-');
    let width = 1;
    for (let most = 10; digits >= most; most *= 10) width += 1;
    this.putDigits(digits, width);
  }

  /** A day of the years 1 to 9999, counted from 1970-01-01, as 1970-01-01. */
  putDay(day: number): void {
    // Years begin in March here, so that the day that is not in every year is their last; 400 of them have as many days each time.
    const sinceMarch0 = day + 719_468;
    const era = Math.floor(sinceMarch0 / 146_097);
    const dayOfEra = sinceMarch0 - era * 146_097;
    const yearOfEra = ((dayOfEra - ((dayOfEra / 1_460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) | 0;
    const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
    const month = ((5 * dayOfYear + 2) / 153) | 0;
    this.putDigits(yearOfEra + era * 400 + (month >= 10 ? 1 : 0), 4);
    this.put('-');
    this.putDigits(month < 10 ? month + 3 : month - 9, 2);
    this.put('-');
    this.putDigits(dayOfYear - (((153 * month + 2) / 5) | 0) + 1, 2);
  }

  /** A second of a day, as 12:34:56. */
  putTime(second: number): void {
    this.putDigits((second / 3_600) | 0, 2);
    this.put(':');
    this.putDigits(((second / 60) | 0) % 60, 2);
    this.put(':');
    this.putDigits(second % 60, 2);
  }
}

const [zero, quote, backslash, space] = [0x30, 0x22, 0x5c, 0x20];

/** Room for bytes that are needed for a moment only. */
export class ReusedBytes {
  private readonly buffer: Buffer;
  private used = 0;

  constructor(bytes: number) {
    this.buffer = Buffer.allocUnsafeSlow(bytes);
  }

  take(count: number): Buffer {
    if (this.used + count > this.buffer.length) return Buffer.allocUnsafe(count);
    this.used += count;
    return this.buffer.subarray(this.used - count, this.used);
  }

  /** All that was taken may be taken again. */
  clear(): void {
    this.used = 0;
  }
}
