import { ByteBuffer } from '../../byteBuffer.ts';

/** Whether an ASCII character stands for itself in XML. */
const isPlain = Uint8Array.from({ length: 128 }, (_, code) =>
  (code >= 0x20 || code === 9 || code === 10) && code !== 0x7f && !'&<>"_'.includes(String.fromCharCode(code)) ? 1 : 0,
);
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** How Excel writes what XML cannot hold; a text that looks so must have its underscore written this way. */
const escaped = /_x[0-9A-Fa-f]{4}_/y;

/** XML in UTF-8. */
export class XmlBuffer extends ByteBuffer {
  /** Any text, as the content of an element or attribute. */
  putText(text: string): void {
    // `_xFFFF_` is the longest that one unit becomes.
    this.reserve(text.length * 7);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      if (code < 0x80) {
        if (isPlain[code] === 1) bytes[at++] = code;
        else {
          this.length = at;
          this.putSpecial(text, i, code);
          at = this.length;
        }
      } else if (code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6);
        bytes[at++] = 0x80 | (code & 0x3f);
      } else if (code < 0xd800 || (code >= 0xe000 && code < 0xfffe)) {
        bytes[at++] = 0xe0 | (code >> 12);
        bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
        bytes[at++] = 0x80 | (code & 0x3f);
      } else {
        const point = text.codePointAt(i) as number;
        if (point > 0xffff) {
          bytes[at++] = 0xf0 | (point >> 18);
          bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
          bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
          bytes[at++] = 0x80 | (point & 0x3f);
          i += 1;
        } else {
          this.length = at;
          this.put(escapeCode(code));
          at = this.length;
        }
      }
    }
    this.length = at;
  }

  /** The same for a text in UTF-8. */
  putTextBytes(given: Uint8Array, start: number, end: number): void {
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

  private putSpecial(text: string, i: number, code: number): void {
    const character = text.charAt(i);
    escaped.lastIndex = i;
    if (character === '_') this.put(escaped.test(text) ? '_x005F_' : '_');
    else this.put(entities[character] ?? escapeCode(code));
  }
}

function escapeCode(code: number): string {
  return `_x${code.toString(16).toUpperCase().padStart(4, '0')}_`;
}

const underscore = 0x5f;

function isNoCharacter(bytes: Uint8Array, i: number): boolean {
  return bytes[i + 1] === 0xbf && (bytes[i + 2] as number) >= 0xbe;
}

/** `_x`, four hexadecimal digits, `_`. */
function isEscapedAt(bytes: Uint8Array, i: number, end: number): boolean {
  escaped.lastIndex = 0;
  return end - i >= 7 && escaped.test(String.fromCharCode(...bytes.subarray(i, i + 7)));
}
