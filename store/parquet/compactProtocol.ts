/** Thrift's compact protocol, as far as Parquet's headers and footers need it: https://github.com/apache/thrift */

const FieldType = { yes: 1, no: 2, int32: 5, int64: 6, binary: 8, list: 9, struct: 12 } as const;

export class CompactWriter {
  private bytes = Buffer.allocUnsafe(1024);
  private used = 0;
  private lastField = 0;

  bool(field: number, value: boolean): void {
    this.begin(field, value ? FieldType.yes : FieldType.no);
  }

  int32(field: number, value: number): void {
    this.begin(field, FieldType.int32);
    this.zigzag(value);
  }

  int64(field: number, value: number): void {
    this.begin(field, FieldType.int64);
    this.zigzag(value);
  }

  binary(field: number, value: string | Uint8Array): void {
    this.begin(field, FieldType.binary);
    this.blob(value);
  }

  struct(field: number, write: () => void): void {
    this.begin(field, FieldType.struct);
    this.nested(write);
  }

  /** Each item is written as a struct. */
  structs<T>(field: number, items: readonly T[], write: (item: T) => void): void {
    this.beginList(field, FieldType.struct, items.length);
    for (const item of items) this.nested(() => write(item));
  }

  int32s(field: number, values: readonly number[]): void {
    this.beginList(field, FieldType.int32, values.length);
    for (const value of values) this.zigzag(value);
  }

  strings(field: number, values: readonly string[]): void {
    this.beginList(field, FieldType.binary, values.length);
    for (const value of values) this.blob(value);
  }

  /** Ends the outermost struct. */
  finish(): Buffer {
    this.byte(0);
    return this.bytes.subarray(0, this.used);
  }

  private nested(write: () => void): void {
    const outer = this.lastField;
    this.lastField = 0;
    write();
    this.byte(0);
    this.lastField = outer;
  }

  private begin(field: number, type: number): void {
    const step = field - this.lastField;
    if (step < 1 || step > 15) throw new RangeError(`field ${field} after ${this.lastField}`);
    this.byte((step << 4) | type);
    this.lastField = field;
  }

  private beginList(field: number, type: number, length: number): void {
    this.begin(field, FieldType.list);
    if (length < 15) this.byte((length << 4) | type);
    else {
      this.byte(0xf0 | type);
      this.varint(length);
    }
  }

  private blob(value: string | Uint8Array): void {
    const length = typeof value === 'string' ? Buffer.byteLength(value) : value.length;
    this.varint(length);
    this.reserve(length);
    if (typeof value === 'string') this.bytes.write(value, this.used);
    else this.bytes.set(value, this.used);
    this.used += length;
  }

  /** Without bit operations, which end at 32 bits: numbers can be as large as a file. */
  private zigzag(value: number): void {
    this.varint(value < 0 ? -value * 2 - 1 : value * 2);
  }

  private varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  private byte(value: number): void {
    if (this.used === this.bytes.length) this.reserve(1);
    this.bytes[this.used] = value;
    this.used += 1;
  }

  private reserve(length: number): void {
    if (this.used + length <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.used + length));
    this.bytes.copy(grown, 0, 0, this.used);
    this.bytes = grown;
  }
}
