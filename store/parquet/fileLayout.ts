import type { SchemaElement } from 'hyparquet';
import type { DecodeText } from './textDecoders.ts';

/** A column within a row group: where its pages lie, and how its values are stored. */
export interface Chunk {
  name: string;
  type: NonNullable<SchemaElement['type']>;
  /** Bytes of a value; null where that differs. */
  width: number | null;
  /** Whether nulls may stand among the values. */
  optional: boolean;
  dictionaryAt: number | null;
  pagesAt: number;
  end: number;
  decodeText: DecodeText;
  /** Those that were looked at, by position. */
  pages: Map<number, Page>;
}

export interface RowGroup {
  rows: number;
  minId: number;
  maxId: number;
  chunks: Chunk[];
  /** Whether its ids ascend, once that is known. */
  isOrdered?: boolean;
}

/** A page of a chunk; positions are those of the file. What is found out about it is kept, since files never change. */
export interface Page {
  rows: number;
  isPlain: boolean;
  levelsAt: number;
  valuesAt: number;
  end: number;
  /** No null stands in it. */
  isFull: boolean;
  /** Texts follow each other, each behind its length: where every so many of them begin, once that is known. */
  marks: number[] | null;
}
