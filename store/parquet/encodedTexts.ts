// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every cell costs more than the work itself

import type { TextColumn } from './textColumn.ts';

/** Longer texts rarely repeat, so they are not kept. */
const LONGEST = 1024;

/** Encodes each shared text once; later cells copy the bytes. */
export class EncodedTexts {
  private texts: string[] = [];
  private bytes = Buffer.allocUnsafe(64 * 1024);
  private used = 0;
  /** Start and end in `bytes` by text id; both 0 while the text is not encoded. */
  private starts = new Uint32Array(1024);
  private ends = new Uint32Array(1024);

  /** @param change what becomes of a text before it is written. */
  constructor(private readonly change: (text: string) => string = (text) => text) {}

  /** The texts that ids are of from now on. What was encoded stays if they are still the same. */
  begin(texts: string[]): void {
    if (texts === this.texts && texts.length <= this.starts.length) return;
    this.texts = texts;
    this.used = 0;
    if (texts.length > this.starts.length) {
      this.starts = new Uint32Array(texts.length * 2);
      this.ends = new Uint32Array(texts.length * 2);
    } else this.ends.fill(0);
  }

  put(column: TextColumn, row: number, id: number): void {
    if (column.putAgain(row, this.texts, id, this.sizeOf(id))) return;
    if (this.ends[id] === 0 && !this.encode(id)) column.putString(row, this.change(this.texts[id]!));
    else column.putEncoded(row, this.bytes, this.starts[id]!, this.ends[id]!);
  }

  /** Bytes of a text in the file, with those that tell its length. */
  sizeOf(id: number): number {
    if (this.ends[id] === 0 && !this.encode(id)) return 4 + Buffer.byteLength(this.change(this.texts[id]!));
    return this.ends[id]! - this.starts[id]!;
  }

  private encode(id: number): boolean {
    const text = this.change(this.texts[id]!);
    if (text.length > LONGEST) return false;
    const most = 4 + text.length * 3;
    if (this.used + most > this.bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.used + most));
      this.bytes.copy(grown, 0, 0, this.used);
      this.bytes = grown;
    }
    const length = this.bytes.write(text, this.used + 4, 'utf8');
    this.bytes.writeUInt32LE(length, this.used);
    this.starts[id] = this.used;
    this.used += 4 + length;
    this.ends[id] = this.used;
    return true;
  }
}
