import { ByteBuffer } from '../../byteBuffer.ts';
import { entities, escapeCode, escapeXml } from './xmlText.ts';

/** Whether an ASCII character stands for itself in XML. */
const isPlain = Uint8Array.from({ length: 128 }, (_, code) =>
  (code >= 0x20 || code === 9 || code === 10) && code !== 0x7f && !'&<>"_'.includes(String.fromCharCode(code)) ? 1 : 0,
);
const escaped = /^_x[0-9A-Fa-f]{4}_/;
const encoder = new TextEncoder();

/** XML in UTF-8. */
export class XmlBuffer extends ByteBuffer {
  /** Any text, as the content of an element or attribute. */
  putText(text: string): void {
    const bytes = encoder.encode(escapeXml(text));
    this.putBytes(bytes, 0, bytes.length);
  }

  /** The same for a text in UTF-8. */
  putTextBytes(given: Uint8Array, start: number, end: number): void {
    // `_xFFFF_` is the longest that one byte becomes.
    this.reserve((end - start) * 7);
    const { bytes } = this;
    let at = this.length;
    for (let i = start; i < end; i += 1) {
      const byte = given[i] as number;
      // Characters of more than one byte stand for themselves, but for U+FFFE and U+FFFF.
      if (byte >= 0x80 ? byte !== 0xef || !isNoCharacter(given, i) : isPlain[byte] === 1) {
        bytes[at++] = byte;
        continue;
      }
      this.length = at;
      if (byte === 0xef) {
        this.put(given[i + 2] === 0xbe ? escapeCode(0xfffe) : escapeCode(0xffff));
        i += 2;
      } else if (byte === underscore) this.put(isEscapedAt(given, i, end) ? '_x005F_' : '_');
      else this.put(entities[String.fromCharCode(byte)] ?? escapeCode(byte));
      at = this.length;
    }
    this.length = at;
  }
}

const underscore = 0x5f;

function isNoCharacter(bytes: Uint8Array, i: number): boolean {
  return bytes[i + 1] === 0xbf && (bytes[i + 2] as number) >= 0xbe;
}

/** `_x`, four hexadecimal digits, `_`. */
function isEscapedAt(bytes: Uint8Array, i: number, end: number): boolean {
  return end - i >= 7 && escaped.test(String.fromCharCode(...bytes.subarray(i, i + 7)));
}
