import type { SchemaElement } from 'hyparquet';
import type { DecodeText } from './textDecoders.ts';

/** A column chunk: where its pages are in the file and how its values are stored. */
export interface Chunk {
  name: string;
  type: NonNullable<SchemaElement['type']>;
  /** Bytes per value; null when values differ in length. */
  width: number | null;
  /** Whether values may be null. */
  optional: boolean;
  dictionaryAt: number | null;
  pagesAt: number;
  end: number;
  decodeText: DecodeText;
  /** Pages that were read before, by their position in the file. */
  pages: Map<number, Page>;
}

export interface RowGroup {
  rows: number;
  minId: number;
  maxId: number;
  chunks: Chunk[];
  /** Whether the row ids ascend; undefined until checked. */
  isOrdered?: boolean;
}

/** A page of a chunk, with positions in the file. Cached for good, since files never change. */
export interface Page {
  rows: number;
  isPlain: boolean;
  levelsAt: number;
  valuesAt: number;
  end: number;
  /** Whether it holds no null. */
  isFull: boolean;
  /** Start of every 256th text, so that one can be found without reading all before it; null until needed. */
  marks: number[] | null;
}
