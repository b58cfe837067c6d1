/** Whether an ASCII character stands for itself in XML. */
const isPlain = Uint8Array.from({ length: 128 }, (_, code) =>
  (code >= 0x20 || code === 9 || code === 10) && code !== 0x7f && !'&<>"_'.includes(String.fromCharCode(code)) ? 1 : 0,
);
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** How Excel writes what XML cannot hold; a text that looks so must have its underscore written this way. */
const escaped = /_x[0-9A-Fa-f]{4}_/y;

/** UTF-8 that is written character by character, which for many short texts is much faster than to join strings. */
export class XmlBuffer {
  private bytes = new Uint8Array(512 * 1024);
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

  private putSpecial(text: string, i: number, code: number): void {
    const character = text.charAt(i);
    escaped.lastIndex = i;
    if (character === '_') this.put(escaped.test(text) ? '_x005F_' : '_');
    else this.put(entities[character] ?? escapeCode(code));
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
    grown.set(this.view());
    this.bytes = grown;
  }
}

function escapeCode(code: number): string {
  return `_x${code.toString(16).toUpperCase().padStart(4, '0')}_`;
}
