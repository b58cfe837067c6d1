import { startsFormula } from '../../core/cells/csvText.ts';
import type { ByteBuffer } from '../byteBuffer.ts';

const [quote, comma, apostrophe, lineFeed, carriageReturn] = [0x22, 0x2c, 0x27, 0x0a, 0x0d];

/** Writes a text of UTF-8, quoted where it must be (RFC 4180), and so that no program runs it; an empty text is `""`. */
export function putCsvText(out: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
  let isQuoted = start === end;
  for (let i = start; i < end && !isQuoted; i += 1) {
    const byte = bytes[i] as number;
    isQuoted = byte === quote || byte === comma || byte === lineFeed || byte === carriageReturn;
  }
  if (isQuoted) out.putByte(quote);
  if (start < end && startsFormula(bytes[start] as number)) out.putByte(apostrophe);
  let from = start;
  if (isQuoted)
    for (let i = start; i < end; i += 1) {
      if (bytes[i] !== quote) continue;
      out.putBytes(bytes, from, i);
      out.putByte(quote);
      from = i;
    }
  out.putBytes(bytes, from, end);
  if (isQuoted) out.putByte(quote);
}
