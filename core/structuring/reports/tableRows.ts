/** The data rows of a table, split into labels and values. */

import type { Range } from '../../grid/grid.ts';
import { findPageHeaders } from '../headers/pageHeaders.ts';
import { isTotalLabel, isWholeLabel } from '../names/words.ts';
import { isDurationFormat, readMinutes } from '../sheet/cellValue.ts';
import { type ColumnProfile, isNumericColumn, isTextColumn, type Line, profileColumns, readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { COLUMN_CLASS_SHARE, MAX_KEY_COLUMNS } from '../thresholds.ts';
import type { Matrix } from './sums.ts';
import { unitOf } from './sums.ts';

export interface TableRows {
  /** Sheet row of each data row. */
  rows: number[];
  /** First and past-the-end cell of each row. */
  spans: [number, number][];
  labelColumns: number[];
  valueColumns: number[];
  /** Columns that hold anything. */
  columnCount: number;
  /** Numbers by row and value column, lengths of time in minutes. */
  matrix: Matrix;
  units: number[];
}

/** Numbers before the first names are keys (codes, ranks), not figures. */
function takeLateLabel(block: Range, profiles: ColumnProfile[], labelColumns: number[], valueColumns: number[]): void {
  const at = profiles.slice(0, MAX_KEY_COLUMNS + 1).findIndex(isTextColumn);
  if (at < 0) return;
  labelColumns.push(block.left + at);
  while (valueColumns.length > 0 && valueColumns[0]! < block.left + at) valueColumns.shift();
}

/** Ages, years and codes down the first column, with `小計` among them: they label the rows, whatever they look like. */
function takeNumberedLabel(view: SheetView, block: Range, lines: Line[], labelColumns: number[], valueColumns: number[]): void {
  if (valueColumns[0] !== block.left) return;
  const isTotal = (line: Line) =>
    line.left === block.left &&
    line.numbers > 0 &&
    view.isText(line.from) &&
    (isTotalLabel(view.label(line.from)) || isWholeLabel(view.label(line.from)));
  if (!lines.some(isTotal)) return;
  labelColumns.push(block.left);
  valueColumns.shift();
}

/** Columns of times of which one at least is shown as a length (`[h]:mm`): lengths add up, times of day do not. */
function findDurations(view: SheetView, block: Range, profiles: ColumnProfile[], lines: Line[]): Set<number> {
  const found = new Set<number>();
  const open = new Set(
    profiles.flatMap(({ dates, filled }, c) => (filled > 0 && dates / filled >= COLUMN_CLASS_SHARE ? [block.left + c] : [])),
  );
  if (open.size === 0) return found;
  const counts = new Map<number, number>();
  for (const line of lines)
    for (let i = line.from; i < line.to; i += 1) {
      const column = view.grid.columns[i]!;
      if (!open.has(column)) continue;
      const step = readMinutes(view.grid, i) === null ? -1 : 1;
      counts.set(column, (counts.get(column) ?? 0) + step);
      if (step > 0 && isDurationFormat(view.style(i).numberFormat)) found.add(column);
    }
  for (const column of found) if (counts.get(column)! <= 0) found.delete(column);
  return found;
}

/** Label columns are the text columns before the first column of numbers; the value columns are all columns of numbers. */
export function readTableRows(view: SheetView, range: Range, dataTop: number, headerRows: number[] = []): TableRows {
  const block = { ...range, top: dataTop };
  const pages = findPageHeaders(view, range, headerRows, dataTop);
  const lines = readLines(view, block).filter((line) => !pages.has(line.row));
  const profiles = profileColumns(view, block, lines);
  const durations = findDurations(view, block, profiles, lines);
  const valueColumns: number[] = [];
  const labelColumns: number[] = [];
  for (let c = 0; c < profiles.length; c += 1) {
    const profile = profiles[c]!;
    if ((isNumericColumn(profile) && profile.numbers >= profile.years) || durations.has(block.left + c)) valueColumns.push(block.left + c);
    else if (valueColumns.length === 0 && (isTextColumn(profile) || (profile.filled > 0 && labelColumns.length === 0)))
      labelColumns.push(block.left + c);
  }
  if (labelColumns.length === 0) takeNumberedLabel(view, block, lines, labelColumns, valueColumns);
  if (labelColumns.length === 0) takeLateLabel(block, profiles, labelColumns, valueColumns);
  const position = new Map(valueColumns.map((column, k) => [column, k]));
  const matrix: Matrix = lines.map((line) => {
    const values: (number | null)[] = new Array<number | null>(valueColumns.length).fill(null);
    for (let i = line.from; i < line.to; i += 1) {
      const k = position.get(view.grid.columns[i]!);
      if (k !== undefined) values[k] = durations.has(view.grid.columns[i]!) ? readMinutes(view.grid, i) : view.numeric(i);
    }
    return values;
  });
  return {
    rows: lines.map((line) => line.row),
    spans: lines.map((line) => [line.from, line.to]),
    labelColumns,
    valueColumns,
    columnCount: profiles.filter((profile) => profile.filled > 0).length,
    matrix,
    units: valueColumns.map((_, k) => unitOf(matrix.map((values) => values[k]!))),
  };
}
