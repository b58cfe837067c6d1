/**
 * One sheet as the reader hands it over: the non-blank cells in row order, as parallel arrays.
 * A sheet of two million cells is a few typed arrays instead of two million objects.
 */

export const CellKind = { text: 1, number: 2, boolean: 3, date: 4, error: 5 } as const;
export type CellKind = (typeof CellKind)[keyof typeof CellKind];

/** What of a cell's style tells something about the structure of a sheet. */
export interface CellStyle {
  bold: boolean;
  italic: boolean;
  /** Any fill that is not "none" and not white. */
  filled: boolean;
  /** `RRGGBB` with theme and tint worked out; null for none or automatic. */
  fillColor: string | null;
  fontColor: string | null;
  fontSize: number | null;
  indent: number;
  align: 'left' | 'center' | 'right' | null;
  border: { top: boolean; bottom: boolean; left: boolean; right: boolean };
  numberFormat: string;
}

/** The style of a cell that has none. */
export const PLAIN_STYLE: CellStyle = {
  bold: false,
  italic: false,
  filled: false,
  fillColor: null,
  fontColor: null,
  fontSize: null,
  indent: 0,
  align: null,
  border: { top: false, bottom: false, left: false, right: false },
  numberFormat: 'General',
};

/** 1-based, inclusive, as people and A1 references count. */
export interface Range {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

export interface Grid {
  sheet: string;
  /** Cells in row order, then column order. All arrays have `size` entries. */
  size: number;
  rows: Uint32Array; // 1-based
  columns: Uint16Array; // 1-based
  kinds: Uint8Array; // CellKind
  /** Numbers as stored; booleans 0/1; dates as milliseconds since 1970 UTC (wall clock); unused otherwise. */
  numbers: Float64Array;
  /**
   * Text and error cells: index into `strings`; -1 otherwise. A formula without a stored result, or with an empty text as result,
   * is a text cell with the empty string: nothing else stands for it.
   */
  texts: Int32Array;
  strings: string[];
  /** Index into `formulas`, -1 for none. Shared and array formulas are already translated to their cell. */
  formulaIds: Int32Array;
  formulas: string[];
  /** Index into `styles`. */
  styleIds: Uint16Array;
  styles: CellStyle[];
  /**
   * Blank cells that carry a border or a fill, inside the bounding box of the non-blank cells only:
   * runs in row order, so that a styled sheet of a million blank rows costs nothing.
   */
  blanks: { row: number; left: number; right: number; styleId: number }[];
  merges: Range[];
  hiddenRows: Set<number>;
  hiddenColumns: Set<number>;
  /** Excel's own tables on this sheet. */
  listObjects: { name: string; range: Range; headerRows: number; totalsRows: number }[];
  /** Where pivot tables stand, without the filters above them. */
  pivots?: { range: Range; headerRows: number }[];
  /** The last row that stays in view when people scroll down: mostly that of the names. */
  frozenRow?: number;
  /** Defined names and print areas that point into this sheet. */
  names: { name: string; range: Range }[];
  /** How Excel shows the sheet's tab; absent means visible. */
  state?: 'visible' | 'hidden' | 'veryHidden';
  /** Array formulas and data tables with the cells they fill; each of those cells has the formula too. */
  arrays?: { range: Range; formula: string; kind: 'array' | 'dataTable' }[];
  /** Formulas without a stored result that could not be computed, by reason; see computeFormulas. */
  uncomputed?: { why: string; cells: string[] }[];
  /** Stored numbers that their formula does not give, by formula, with both numbers of the first cell; see checkFormulas. */
  stale?: { formula: string; stated: number; computed: number; cells: string[] }[];
  /** Outline levels (1 to 7) people gave to rows with "group"; rows that are not in it have none. */
  rowOutlines?: Map<number, number>;
}
