/** What rules look at: a block of cells with named columns, which is a table or a region of a sheet put together again. */

import { isTotalLabel, isWholeLabel } from '../structuring/names/words.ts';
import { parseNumberText } from '../types/number.ts';

/** Dates are ISO texts. */
export type Value = number | string | null;

export interface RegionColumn {
  name: string;
  /** Its header is blank. */
  isNameless?: boolean;
  /** The type that the table gives it; null where tables with several types share a column of the sheet. */
  type: string | null;
  /** By row. */
  values: Value[];
}

/** Where a cell is found: in which table, and in which cell of the sheet it came from. */
export interface Place {
  table: string;
  rowId: number;
  column: string;
  cell: string | null;
}

export interface Region {
  name: string;
  rowCount: number;
  columns: RegionColumn[];
  /** `raw`: a sheet that was not understood, whose rows are also titles and headers. */
  isRaw: boolean;
  /** Null where no table has a cell. */
  locate(row: number, column: number): Place | null;
  /** The sheet has a cell there that stands for no value, such as `(NA)` or `-`. */
  isSign?(row: number, column: number): boolean;
  /** The formula a cell was read with, as written in the sheet, with the row and column it stood in. */
  formulaAt?(row: number, column: number): { formula: string; row: number; column: number; isEdited: boolean } | null;
}

export type ColumnKind = 'number' | 'text' | 'date' | 'empty';

/** A column is of a kind when nine of ten filled cells are: room for a few odd ones, not for a mixture. */
const kindShare = 0.9;

const datePattern = /^\d{4}-\d{2}-\d{2}(?:$|[ T])/;

export function isDate(value: Value): value is string {
  return typeof value === 'string' && datePattern.test(value);
}

/** Numbers that a column of texts holds as texts. Codes with leading zeros are texts. */
export function readNumber(value: Value): number | null {
  if (typeof value !== 'string') return value;
  const parsed = parseNumberText(value);
  return parsed && !parsed.leadingZero ? parsed.value : null;
}

export function kindOfValue(value: Value): ColumnKind {
  if (value === null || value === '') return 'empty';
  if (isDate(value)) return 'date';
  return readNumber(value) === null ? 'text' : 'number';
}

export interface ColumnSummary {
  filled: number;
  numbers: number;
  texts: number;
  dates: number;
  /** The kind of nearly all cells; null for a mixture. */
  kind: ColumnKind | null;
  /** By row; null where there is none. */
  read: (number | null)[];
}

function summarizeColumn({ values }: RegionColumn): ColumnSummary {
  const counts = { number: 0, text: 0, date: 0, empty: 0 };
  const read = values.map((value) => {
    const kind = kindOfValue(value);
    counts[kind] += 1;
    return kind === 'number' ? readNumber(value) : null;
  });
  const filled = values.length - counts.empty;
  const kind = filled === 0 ? 'empty' : (['number', 'text', 'date'] as const).find((each) => counts[each] >= filled * kindShare);
  return { filled, numbers: counts.number, texts: counts.text, dates: counts.date, kind: kind ?? null, read };
}

/** A region with what is known of each of its columns. */
export interface Reviewed {
  region: Region;
  summaries: ColumnSummary[];
  /** What each row is called: the texts before the first column of numbers, or else the first text. */
  labels: string[];
  /** One of these texts says that the row is a total. */
  isTotal: boolean[];
}

export function prepareRegion(region: Region): Reviewed {
  const summaries = region.columns.map(summarizeColumn);
  const firstNumbers = summaries.findIndex(({ kind }) => kind === 'number');
  const before = region.columns.slice(0, Math.max(1, firstNumbers));
  const texts = Array.from({ length: region.rowCount }, (_, row) => {
    const own = listTexts(before, row);
    return own.length > 0 ? own : listTexts(region.columns, row).slice(0, 1);
  });
  return {
    region,
    summaries,
    labels: texts.map((own) => own.join(' ')),
    isTotal: texts.map((own) => own.some((text) => isTotalLabel(text) || isWholeLabel(text))),
  };
}

function listTexts(columns: RegionColumn[], row: number): string[] {
  return columns.flatMap(({ values }) => {
    const value = values[row];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
}
