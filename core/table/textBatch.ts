/** Some rows as canonical texts (core/cells/castValue.ts), column by column. */
export interface TextBatch {
  rowCount: number;
  texts: (string | null)[][];
}

/** The same as UTF-8. Strings for each cell would cost the garbage collector more than all else. */
export interface ByteBatch {
  rowCount: number;
  columns: ByteColumn[];
}

export interface ByteColumn {
  bytes: Uint8Array;
  /** Where the value of each row begins, and at last where the last one ends. */
  offsets: Int32Array;
  /** Bit i is 1 if value i is not null, lowest bit first. Null: no value is null. */
  validity: Uint8Array | null;
}

export function isValid(validity: Uint8Array | null, row: number): boolean {
  return validity === null || (((validity[row >> 3] as number) >> (row & 7)) & 1) === 1;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** One value. */
export function readByteText({ bytes, offsets, validity }: ByteColumn, row: number): string | null {
  return isValid(validity, row) ? decoder.decode(bytes.subarray(offsets[row], offsets[row + 1])) : null;
}

/** Whether a row holds this text; most that differ do so in their length or first characters. */
export function holdsText(column: ByteColumn, row: number, text: string | null): boolean {
  const { bytes, offsets, validity } = column;
  if (text === null || !isValid(validity, row)) return text === null && !isValid(validity, row);
  const start = offsets[row] as number;
  const length = (offsets[row + 1] as number) - start;
  if (text.length > length || text.length * 3 < length) return false;
  let at = start;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x80) {
      if (bytes[at++] !== code) return false;
    } else if (code >= 0x800 && (code < 0xd800 || code > 0xdfff)) {
      if (
        bytes[at] !== (0xe0 | (code >> 12)) ||
        bytes[at + 1] !== (0x80 | ((code >> 6) & 0x3f)) ||
        bytes[at + 2] !== (0x80 | (code & 0x3f))
      )
        return false;
      at += 3;
    } else return readByteText(column, row) === text;
  }
  return at === start + length;
}

export function isNull({ validity }: ByteColumn, row: number): boolean {
  return !isValid(validity, row);
}

/** Whether a value of one column has the bytes of a value of another. At `blank` the first may have a T in place of a blank. */
export function sameBytes(a: ByteColumn, i: number, b: ByteColumn, row: number, blank = -1): boolean {
  const start = a.offsets[i] as number;
  const shift = (b.offsets[row] as number) - start;
  const end = a.offsets[i + 1] as number;
  if (end + shift !== b.offsets[row + 1] || !isValid(a.validity, i) || !isValid(b.validity, row)) return false;
  for (let at = start; at < end; at += 1) {
    const byte = a.bytes[at];
    if (byte !== b.bytes[at + shift] && !(at - start === blank && byte === 0x54 && b.bytes[at + shift] === 0x20)) return false;
  }
  return true;
}

/** A positive whole number, such as a row id; null for anything else. */
export function readByteNumber({ bytes, offsets }: ByteColumn, row: number): number | null {
  const [start, end] = [offsets[row] as number, offsets[row + 1] as number];
  if (bytes[start] === 0x30) return null;
  let number = 0;
  for (let i = start; i < end; i += 1) {
    const digit = (bytes[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return null;
    number = number * 10 + digit;
  }
  return number > 0 && Number.isSafeInteger(number) ? number : null;
}

/** The row ids, which are the last column. */
export function readRowIds({ rowCount, columns }: ByteBatch): number[] {
  const ids = columns.at(-1) as ByteColumn;
  return Array.from({ length: rowCount }, (_, row) => readByteNumber(ids, row) ?? 0);
}

/** The first rows. */
export function cutBatch(batch: ByteBatch, most: number): ByteBatch {
  if (batch.rowCount <= most) return batch;
  const columns = batch.columns.map(({ bytes, offsets, validity }) => ({
    bytes: bytes.subarray(0, offsets[most]),
    offsets: offsets.subarray(0, most + 1),
    validity,
  }));
  return { rowCount: most, columns };
}

/** Decodes each column at once and cuts it, which is much faster than to decode each value. */
export function decodeBatch({ rowCount, columns }: ByteBatch): TextBatch {
  return { rowCount, texts: columns.map(decodeColumn) };
}

function decodeColumn({ bytes, offsets, validity }: ByteColumn): (string | null)[] {
  const whole = decoder.decode(bytes);
  const cuts = whole.length === bytes.length ? offsets : shortenOffsets(bytes, offsets);
  const texts = new Array<string | null>(offsets.length - 1);
  for (let row = 0; row < texts.length; row += 1) texts[row] = isValid(validity, row) ? whole.slice(cuts[row], cuts[row + 1]) : null;
  return texts;
}

/** Offsets of bytes as offsets of UTF-16 units. */
function shortenOffsets(bytes: Uint8Array, offsets: Int32Array): Int32Array {
  const cuts = new Int32Array(offsets.length);
  let units = 0;
  let next = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    while (offsets[next] === i) cuts[next++] = units;
    const byte = bytes[i] as number;
    // Bytes that go on with a character count nothing; characters of four bytes are two units.
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  while (next < cuts.length) cuts[next++] = units;
  return cuts;
}

const encoder = new TextEncoder();

export function encodeBatch({ rowCount, texts }: TextBatch): ByteBatch {
  return { rowCount, columns: texts.map(encodeColumn) };
}

function encodeColumn(texts: (string | null)[]): ByteColumn {
  const offsets = new Int32Array(texts.length + 1);
  const validity = new Uint8Array(Math.ceil(texts.length / 8));
  const pieces = texts.map((text, row) => {
    if (text !== null) validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
    const piece = encoder.encode(text ?? '');
    offsets[row + 1] = (offsets[row] as number) + piece.length;
    return piece;
  });
  const bytes = new Uint8Array(offsets[texts.length] as number);
  for (const [row, piece] of pieces.entries()) bytes.set(piece, offsets[row]);
  return { bytes, offsets, validity };
}
