/** The values of a column that came from cells, read when they are asked for: a long list stays a few typed arrays. */

import { CellKind, type Grid } from '../../grid/grid.ts';
import { convertValue, type InferredColumn, type StoredValue } from '../../types/infer.ts';
import { FIRST_DAY, isDurationFormat, isEarly, readValue } from './cellValue.ts';

export class CellValues {
  private readonly isNumeric: boolean;
  private readonly isText: boolean;
  private readonly isDated: boolean;
  /** By style: 1 where the format shows a length of time. */
  private durations: Uint8Array | null = null;
  /** Equal texts are converted once. */
  private readonly fromTexts = new Map<number, StoredValue>();

  constructor(
    readonly grid: Grid,
    /** By row; -1 for none. */
    readonly cells: Int32Array,
    readonly column: InferredColumn,
  ) {
    this.isNumeric = column.type === 'BIGINT' || column.type === 'DOUBLE';
    this.isText = column.type === 'VARCHAR';
    this.isDated = column.type === 'DATE' || column.type === 'TIMESTAMP';
  }

  get length(): number {
    return this.cells.length;
  }

  at(row: number): StoredValue {
    const cell = this.cells[row] ?? -1;
    return cell < 0 ? null : this.read(cell);
  }

  /** How many rows have a value. */
  countKnown(): number {
    let known = 0;
    for (let row = 0; row < this.cells.length; row += 1) if (!this.isNull(row)) known += 1;
    return known;
  }

  isNull(row: number): boolean {
    const cell = this.cells[row] ?? -1;
    if (cell < 0 || this.isText) return cell < 0;
    if (this.isNumeric ? this.grid.kinds[cell] === CellKind.number : this.momentOf(cell) !== null) return false;
    return this.read(cell) === null;
  }

  /** What a cell holds in a column of dates, in whole milliseconds; null where it is no ordinary moment and `at` says what it is. */
  momentOf(cell: number): number | null {
    const { kinds, numbers, styleIds } = this.grid;
    const moment = numbers[cell]!;
    if (!this.isDated || kinds[cell] !== CellKind.date || moment < FIRST_DAY || isEarly(moment)) return null;
    this.durations ??= Uint8Array.from(this.grid.styles, ({ numberFormat }) => (isDurationFormat(numberFormat) ? 1 : 0));
    return this.durations[styleIds[cell]!] === 1 ? null : Math.trunc(moment);
  }

  /** The same cells in another copy of the grid, where `origin` says which they are. */
  moveTo(grid: Grid, origin: ArrayLike<number>): CellValues {
    return new CellValues(
      grid,
      this.cells.map((cell) => (cell < 0 ? -1 : origin[cell]!)),
      this.column,
    );
  }

  private read(cell: number): StoredValue {
    const { grid, column } = this;
    const kind = grid.kinds[cell]!;
    if (kind === CellKind.number && this.isNumeric) return grid.numbers[cell]!;
    if (kind !== CellKind.text || this.isText) return convertValue(readValue(grid, cell), column);
    const text = grid.texts[cell]!;
    let value = this.fromTexts.get(text);
    if (value === undefined) {
      value = convertValue(readValue(grid, cell), column);
      this.fromTexts.set(text, value);
    }
    return value;
  }
}
