import type { PictureOptions } from '../structuring/picture.ts';

/** A sheet drawn as text, and what a careful person finds on it. */
export interface CorpusSheet {
  name: string;
  picture: string;
  options?: PictureOptions;
  tables: CorpusTable[];
}

export interface CorpusTable {
  /** With its header, without titles and notes. */
  range: string;
  headerRows: number[];
  /** Rows that add up others. */
  totalRows?: number[];
  /** Name and type of each column of the sheet, in order: `品名 VARCHAR`. */
  columns: string[];
}
