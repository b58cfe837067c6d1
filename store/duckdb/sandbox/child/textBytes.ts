/** ASCII and UTF-8 that become more; numbers and days are written digit by digit, without a string for each. */
export class TextBytes {
  length = 0;
  private buffer = Buffer.allocUnsafe(65_536);

  add(bytes: Uint8Array, from = 0, to = bytes.length): void {
    const count = to - from;
    this.reserve(count);
    const { buffer, length } = this;
    // A call costs more than some bytes.
    if (count > 48) buffer.set(bytes.subarray(from, to), length);
    else for (let i = 0; i < count; i += 1) buffer[length + i] = bytes[from + i] as number;
    this.length = length + count;
  }

  addAscii(text: string): void {
    const count = text.length;
    this.reserve(count);
    const { buffer, length } = this;
    for (let i = 0; i < count; i += 1) buffer[length + i] = text.charCodeAt(i);
    this.length = length + count;
  }

  /** UTF-8 as a text of JSON. False: some of it cannot stand there as it is, and nothing was added. */
  addPlainText(bytes: Uint8Array, from: number, to: number): boolean {
    this.reserve(to - from + 2);
    const { buffer, length } = this;
    buffer[length] = quote;
    let at = length + 1;
    for (let i = from; i < to; i += 1) {
      const byte = bytes[i] as number;
      if (byte < space || byte === quote || byte === backslash) return false;
      buffer[at] = byte;
      at += 1;
    }
    buffer[at] = quote;
    this.length = at + 1;
    return true;
  }

  /** A whole number that is not negative and below 2^31, with zeros before it. */
  addDigits(value: number, width: number): void {
    this.reserve(width);
    const { buffer, length } = this;
    let rest = value | 0;
    for (let i = length + width - 1; i >= length; i -= 1) {
      const tenth = (rest / 10) | 0;
      buffer[i] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.length = length + width;
  }

  /** Any whole number that JavaScript holds exactly, but for -0. */
  addInteger(value: number): void {
    const digits = Math.abs(value);
    if (digits > 0x7fffffff) {
      this.addAscii(String(value));
      return;
    }
    if (value < 0) this.addAscii('-');
    let width = 1;
    for (let most = 10; digits >= most; most *= 10) width += 1;
    this.addDigits(digits, width);
  }

  /** A day of the years 1 to 9999, counted from 1970-01-01, as 1970-01-01. */
  addDay(day: number): void {
    // Years begin in March here, so that the day that is not in every year is their last; 400 of them have as many days each time.
    const sinceMarch0 = day + 719_468;
    const era = Math.floor(sinceMarch0 / 146_097);
    const dayOfEra = sinceMarch0 - era * 146_097;
    const yearOfEra = ((dayOfEra - ((dayOfEra / 1_460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) | 0;
    const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
    const month = ((5 * dayOfYear + 2) / 153) | 0;
    this.addDigits(yearOfEra + era * 400 + (month >= 10 ? 1 : 0), 4);
    this.addAscii('-');
    this.addDigits(month < 10 ? month + 3 : month - 9, 2);
    this.addAscii('-');
    this.addDigits(dayOfYear - (((153 * month + 2) / 5) | 0) + 1, 2);
  }

  /** A second of a day, as 12:34:56. */
  addTime(second: number): void {
    this.addDigits((second / 3_600) | 0, 2);
    this.addAscii(':');
    this.addDigits(((second / 60) | 0) % 60, 2);
    this.addAscii(':');
    this.addDigits(second % 60, 2);
  }

  taken(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private reserve(count: number): void {
    if (this.length + count <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.length + count));
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
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
