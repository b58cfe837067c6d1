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
  if (text.length > length) return false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) return readByteText(column, row) === text;
    if (code !== bytes[start + i]) return false;
  }
  return text.length === length;
}

/** A whole number, such as a row id. */
function readByteNumber({ bytes, offsets }: ByteColumn, row: number): number {
  let number = 0;
  for (let i = offsets[row] ?? 0; i < (offsets[row + 1] ?? 0); i += 1) number = number * 10 + ((bytes[i] as number) - 0x30);
  return number;
}

/** The row ids, which are the last column. */
export function readRowIds({ rowCount, columns }: ByteBatch): number[] {
  const ids = columns.at(-1) as ByteColumn;
  return Array.from({ length: rowCount }, (_, row) => readByteNumber(ids, row));
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
