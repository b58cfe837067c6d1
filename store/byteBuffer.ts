/** Bytes that are written piece by piece, which for many short texts is much faster than to join strings. */
export class ByteBuffer {
  protected bytes = new Uint8Array(512 * 1024);
  length = 0;

  /** A view; what is written after `clear` overwrites it. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Text of ASCII, as it is. */
  put(ascii: string): void {
    this.reserve(ascii.length);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < ascii.length; i += 1) bytes[at++] = ascii.charCodeAt(i);
    this.length = at;
  }

  putByte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  /** The bytes from `start` to `end`, as they are. */
  putBytes(given: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    const { bytes } = this;
    let at = this.length;
    // Most are short, and a call to copy them would cost more.
    for (let i = start; i < end; i += 1) bytes[at++] = given[i] as number;
    this.length = at;
  }

  protected reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
    grown.set(this.view());
    this.bytes = grown;
  }
}
