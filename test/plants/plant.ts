import type { Range } from '../../core/grid/grid.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
import { parseNumberText } from '../../core/types/number.ts';

export type Random = () => number;

/** A table as somebody who looked at the sheet sees it. */
export interface LabelledTable {
  range: Range;
  headerRows: number[];
  totalRows: number[];
}

export interface Plant {
  kind: 'total' | 'shift' | 'duplicate';
  grid: Grid;
  /** Cells that are wrong now, by row and column. */
  cells: { row: number; column: number }[];
  what: string;
}

/** Numbers that can be repeated: mulberry32. */
export function openRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<T>(random: Random, list: T[]): T | undefined {
  return list[Math.floor(random() * list.length)];
}

function indexCells(grid: Grid): Map<number, Map<number, number>> {
  const rows = new Map<number, Map<number, number>>();
  for (let i = 0; i < grid.size; i += 1) {
    const row = grid.rows[i] as number;
    const line = rows.get(row) ?? new Map<number, number>();
    rows.set(row, line.set(grid.columns[i] as number, i));
  }
  return rows;
}

function numberAt(grid: Grid, i: number | undefined): number | null {
  if (i === undefined) return null;
  if (grid.kinds[i] === CellKind.number) return grid.numbers[i] as number;
  if (grid.kinds[i] !== CellKind.text) return null;
  return parseNumberText(grid.strings[grid.texts[i] as number] as string)?.value ?? null;
}

/** Changes one cell of a total that is the sum of the rows right above or right below it. */
export function plantTotal(grid: Grid, table: LabelledTable, random: Random): Plant | null {
  const cells = indexCells(grid);
  const { range, headerRows, totalRows } = table;
  const candidates: { row: number; column: number; value: number; i: number }[] = [];
  for (const row of totalRows) {
    for (let column = range.left + 1; column <= range.right; column += 1) {
      const i = cells.get(row)?.get(column);
      const value = numberAt(grid, i);
      if (i === undefined || value === null || Math.abs(value) < 100) continue;
      const read = (at: number) => numberAt(grid, cells.get(at)?.get(column));
      const isInside = (at: number) => at >= range.top && at <= range.bottom && !headerRows.includes(at);
      if (addsUp(value, row, -1, read, isInside) || addsUp(value, row, 1, read, isInside)) candidates.push({ row, column, value, i });
    }
  }
  const chosen = pick(random, candidates);
  if (!chosen) return null;
  const changed = mistype(chosen.value, random);
  return {
    kind: 'total',
    grid: replaceNumber(grid, chosen.i, changed),
    cells: [{ row: chosen.row, column: chosen.column }],
    what: `${chosen.value} became ${changed}`,
  };
}

function addsUp(
  total: number,
  row: number,
  direction: 1 | -1,
  read: (row: number) => number | null,
  isInside: (row: number) => boolean,
): boolean {
  let sum = 0;
  let count = 0;
  for (let at = row + direction; isInside(at); at += direction) {
    const value = read(at);
    if (value === null) continue;
    sum += value;
    count += 1;
    if (count >= 2 && Math.abs(sum - total) <= 1e-6 * Math.abs(total)) return true;
  }
  return false;
}

/** A slip of the finger that changes the number by a thousandth at least: a wrong digit, two digits swapped, one digit too many. */
export function mistype(value: number, random: Random): number {
  for (;;) {
    const digits = [...String(value)];
    const places = digits.flatMap((each, k) => (/\d/.test(each) ? [k] : []));
    const at = pick(random, places) as number;
    const way = random();
    if (way < 0.5) digits[at] = String(Math.floor(random() * 10));
    else if (way < 0.8) [digits[at], digits[at + 1]] = [digits[at + 1] ?? '', digits[at] as string];
    else digits.splice(at, 0, digits[at] as string);
    const changed = Number(digits.join(''));
    if (Number.isFinite(changed) && changed !== 0 && Math.abs(changed - value) >= Math.abs(value) * 1e-3) return changed;
  }
}

function replaceNumber(grid: Grid, i: number, value: number): Grid {
  if (grid.kinds[i] === CellKind.number) {
    const numbers = grid.numbers.slice();
    numbers[i] = value;
    return { ...grid, numbers };
  }
  const texts = grid.texts.slice();
  texts[i] = grid.strings.length;
  return { ...grid, texts, strings: [...grid.strings, String(value)] };
}

/** Rows that hold records: three cells or more, none of them of a header or a total. */
function listRecords(grid: Grid, { range, headerRows, totalRows }: LabelledTable): { row: number; cells: Map<number, number> }[] {
  const lastHeader = Math.max(range.top - 1, ...headerRows);
  const records: { row: number; cells: Map<number, number> }[] = [];
  for (const [row, line] of indexCells(grid)) {
    if (row <= lastHeader || row > range.bottom || totalRows.includes(row)) continue;
    const own = new Map([...line].filter(([column]) => column >= range.left && column <= range.right));
    const numbers = [...own.values()].filter((i) => numberAt(grid, i) !== null).length;
    if (own.size >= 3 && numbers >= 1) records.push({ row, cells: own });
  }
  return records;
}

/** Moves the cells of a row by one column, from some column on: a cell too many, or one too few. */
export function plantShift(grid: Grid, table: LabelledTable, random: Random): Plant | null {
  const { range } = table;
  const records = listRecords(grid, table).filter(({ row, cells }) => {
    const beside = indexCells(grid)
      .get(row)
      ?.has(range.right + 1);
    return !beside && cells.size >= Math.max(3, (range.right - range.left + 1) * 0.6);
  });
  const chosen = pick(random, records);
  if (!chosen) return null;
  const from = pick(
    random,
    [...chosen.cells.keys()].filter((column) => column > range.left),
  );
  if (from === undefined) return null;
  const isRight = random() < 0.5;
  const kept: { i: number; column: number }[] = [];
  for (let i = 0; i < grid.size; i += 1) {
    const column = grid.columns[i] as number;
    const isMoved = grid.rows[i] === chosen.row && column >= from && column <= range.right;
    if (!isMoved) kept.push({ i, column });
    else if (isRight) kept.push({ i, column: column + 1 });
    else if (column > from) kept.push({ i, column: column - 1 });
  }
  const moved = takeCells(
    grid,
    kept.map(({ i, column }) => ({ i, row: grid.rows[i] as number, column })),
  );
  const cells = Array.from({ length: range.right - from + 2 }, (_, k) => ({ row: chosen.row, column: from + k }));
  return { kind: 'shift', grid: moved, cells, what: `row ${chosen.row} moved to the ${isRight ? 'right' : 'left'} from column ${from} on` };
}

/** Copies a row below itself. */
export function plantDuplicate(grid: Grid, table: LabelledTable, random: Random): Plant | null {
  const chosen = pick(random, listRecords(grid, table));
  if (!chosen) return null;
  const kept: { i: number; row: number; column: number }[] = [];
  const copies: typeof kept = [];
  for (let i = 0; i < grid.size; i += 1) {
    const [row, column] = [grid.rows[i] as number, grid.columns[i] as number];
    if (row > chosen.row && copies.length > 0) kept.push(...copies.splice(0));
    kept.push({ i, row: row > chosen.row ? row + 1 : row, column });
    if (row === chosen.row) copies.push({ i, row: row + 1, column });
  }
  kept.push(...copies);
  const down = (range: Range): Range => ({
    ...range,
    top: range.top > chosen.row ? range.top + 1 : range.top,
    bottom: range.bottom > chosen.row ? range.bottom + 1 : range.bottom,
  });
  const copied = takeCells({ ...grid, blanks: [], merges: grid.merges.map(down), listObjects: [], names: [] }, kept);
  const cells = [...chosen.cells.keys()].flatMap((column) => [0, 1].map((k) => ({ row: chosen.row + k, column })));
  return { kind: 'duplicate', grid: copied, cells, what: `row ${chosen.row} stands there twice` };
}

function takeCells(grid: Grid, cells: { i: number; row: number; column: number }[]): Grid {
  const order = cells.map(({ i }) => i);
  return {
    ...grid,
    size: cells.length,
    rows: Uint32Array.from(cells, ({ row }) => row),
    columns: Uint16Array.from(cells, ({ column }) => column),
    kinds: Uint8Array.from(order, (i) => grid.kinds[i] as number),
    numbers: Float64Array.from(order, (i) => grid.numbers[i] as number),
    texts: Int32Array.from(order, (i) => grid.texts[i] as number),
    formulaIds: Int32Array.from(order, (i) => grid.formulaIds[i] as number),
    styleIds: Uint16Array.from(order, (i) => grid.styleIds[i] as number),
  };
}
