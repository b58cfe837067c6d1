// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every cell costs more than the work itself

import type { TextColumn } from './columnEncoders.ts';

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

  begin(texts: string[]): void {
    this.texts = texts;
    this.used = 0;
    if (texts.length > this.starts.length) {
      this.starts = new Uint32Array(texts.length * 2);
      this.ends = new Uint32Array(texts.length * 2);
    } else this.ends.fill(0, 0, texts.length);
  }

  put(column: TextColumn, row: number, id: number): void {
    if (this.ends[id] === 0 && !this.encode(id)) column.putString(row, this.texts[id]!);
    else column.putEncoded(row, this.bytes, this.starts[id]!, this.ends[id]!);
  }

  private encode(id: number): boolean {
    const text = this.texts[id]!;
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
