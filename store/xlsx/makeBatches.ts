// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** From cells in the order of the file to batches of columns. */

import type { BatchColumn, RowBatch } from '../../core/grid/batch.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';

/** Slots in one batch, blank ones included: bounds the memory for a sheet with few cells spread far apart. */
const MOST_SLOTS = 4_000_000;
/** Slots allowed per cell once a batch has more than a minimum: keeps sparse sheets as cheap as full ones. */
const SLOTS_PER_CELL = 32;
const FEW_SLOTS = 65_536;

/** Of a CellBuffer, or of a Grid. */
type SortedCells = Pick<Grid, 'rows' | 'columns' | 'kinds' | 'numbers' | 'texts' | 'styleIds' | 'formulaIds'>;

/** `from` to `to` are whole rows. Splits where rows and columns would make too large a rectangle. */
export function* makeBatches(cells: SortedCells, from: number, to: number, strings: string[], formulas: string[]): Generator<RowBatch> {
  if (from >= to) return;
  const width = findWidth(cells, from, to);
  if (width > 0 && to - from <= MOST_SLOTS) {
    yield makeRegularBatch(cells, from, to, width, strings, formulas);
    return;
  }
  const { rows, positions } = findRows(cells, from, to);
  const columns = findColumns(cells, from, to);
  const slots = rows.length * columns.length;
  if (rows.length > 1 && (slots > MOST_SLOTS || (slots > FEW_SLOTS && slots > SLOTS_PER_CELL * (to - from)))) {
    const half = rows.length >> 1;
    let middle = from;
    while (positions[middle - from]! < half) middle += 1;
    yield* makeBatches(cells, from, middle, strings, formulas);
    yield* makeBatches(cells, middle, to, strings, formulas);
    return;
  }
  const places = new Int32Array(columns.at(-1)! + 1);
  columns.forEach((column, i) => {
    places[column] = i;
  });
  const made: BatchColumn[] = columns.map((column) => ({
    column,
    kinds: new Uint8Array(rows.length),
    numbers: null,
    texts: null,
    styleIds: new Uint16Array(rows.length),
    formulaIds: null,
  }));
  for (let i = from; i < to; i += 1) {
    const target = made[places[cells.columns[i]!]!]!;
    const at = positions[i - from]!;
    const kind = cells.kinds[i]!;
    target.kinds[at] = kind;
    target.styleIds[at] = cells.styleIds[i]!;
    if (kind === CellKind.text || kind === CellKind.error) {
      target.texts ??= new Int32Array(rows.length).fill(-1);
      target.texts[at] = cells.texts[i]!;
    } else {
      target.numbers ??= new Float64Array(rows.length);
      target.numbers[at] = cells.numbers[i]!;
    }
    if (cells.formulaIds[i]! >= 0) {
      target.formulaIds ??= new Int32Array(rows.length).fill(-1);
      target.formulaIds[at] = cells.formulaIds[i]!;
    }
  }
  yield { rows, columns: made, strings, formulas };
}

/** Cells of each row, if all rows have theirs in the same columns, as those of a list have; 0 otherwise. */
function findWidth({ rows, columns }: SortedCells, from: number, to: number): number {
  let width = 1;
  while (from + width < to && rows[from + width] === rows[from]) width += 1;
  if ((to - from) % width !== 0) return 0;
  for (let start = from + width; start < to; start += width)
    for (let k = 0; k < width; k += 1) if (columns[start + k] !== columns[from + k] || rows[start + k] !== rows[start]) return 0;
  return width;
}

function makeRegularBatch(cells: SortedCells, from: number, to: number, width: number, strings: string[], formulas: string[]): RowBatch {
  const count = (to - from) / width;
  const rows = new Uint32Array(count);
  for (let n = 0; n < count; n += 1) rows[n] = cells.rows[from + n * width]!;
  const columns = Array.from({ length: width }, (_, k) => takeColumn(cells, from + k, width, count));
  return { rows, columns, strings, formulas };
}

/** The cells of a column: from `first`, every `width`-th. */
function takeColumn(
  { columns, kinds, numbers, texts, styleIds, formulaIds }: SortedCells,
  first: number,
  width: number,
  count: number,
): BatchColumn {
  const made: BatchColumn = {
    column: columns[first]!,
    kinds: new Uint8Array(count),
    numbers: null,
    texts: null,
    styleIds: new Uint16Array(count),
    formulaIds: null,
  };
  for (let n = 0, i = first; n < count; n += 1, i += width) {
    const kind = kinds[i]!;
    made.kinds[n] = kind;
    made.styleIds[n] = styleIds[i]!;
    if (kind === CellKind.text || kind === CellKind.error) {
      made.texts ??= new Int32Array(count).fill(-1);
      made.texts[n] = texts[i]!;
    } else {
      made.numbers ??= new Float64Array(count);
      made.numbers[n] = numbers[i]!;
    }
    if (formulaIds[i]! >= 0) {
      made.formulaIds ??= new Int32Array(count).fill(-1);
      made.formulaIds[n] = formulaIds[i]!;
    }
  }
  return made;
}

/** Distinct rows, and for each cell which of them it is in. */
function findRows(cells: SortedCells, from: number, to: number): { rows: Uint32Array; positions: Uint32Array } {
  const rows = new Uint32Array(to - from);
  const positions = new Uint32Array(to - from);
  let count = 0;
  for (let i = from; i < to; i += 1) {
    const row = cells.rows[i]!;
    if (count === 0 || rows[count - 1] !== row) {
      rows[count] = row;
      count += 1;
    }
    positions[i - from] = count - 1;
  }
  return { rows: rows.slice(0, count), positions };
}

function findColumns(cells: SortedCells, from: number, to: number): number[] {
  const seen = new Uint8Array(16_385);
  for (let i = from; i < to; i += 1) seen[cells.columns[i]!] = 1;
  const columns: number[] = [];
  for (let column = 1; column < seen.length; column += 1) if (seen[column] === 1) columns.push(column);
  return columns;
}
