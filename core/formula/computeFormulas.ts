/** Computes the formulas of a workbook that have no stored result: programs write workbooks so, and leave the computing to Excel. */

import { nameCell } from '../a1/address.ts';
import { classifyFormat } from '../grid/format/parseFormat.ts';
import { CellKind, type Grid, PLAIN_STYLE, type Range } from '../grid/grid.ts';
import { callFunction } from './formulaFunctions.ts';
import {
  asNumber,
  asScalar,
  asText,
  asTruth,
  compareScalars,
  FormulaError,
  type FormulaValue,
  isArray,
  momentOfSerial,
  type Scalar,
  serialOfMoment,
  Uncomputable,
} from './formulaValues.ts';
import { type FormulaNode, parseFormula } from './parseFormula.ts';

/** Cells that are read in all for the formulas of a file; a file that takes more stays as it is. */
const MAX_READS = 20_000_000;
/** Formulas that wait for one another; sheets are computed from the top, so that chains downwards are short. */
const MAX_CHAIN = 400;

/** The grids with the results that could be computed, and for each sheet what could not be, by reason. */
export function computeFormulas(grids: Grid[]): Grid[] {
  if (!grids.some(hasOpenFormulas)) return grids;
  return new Computation(grids).run();
}

/** Formulas that are computed again to see whether their stored results hold, and cells that are read for it. */
const MAX_CHECKED = 20_000;
const MAX_CHECK_READS = 2_000_000;

/**
 * The grids with the stored numbers that their formulas do not give, by formula: somebody wrote over what they are computed from, or a
 * program did not compute them again. Each is computed from what is stored, so that one stale number is told once.
 */
export function checkFormulas(grids: Grid[]): Grid[] {
  if (!grids.some(({ formulas }) => formulas.length > 0)) return grids;
  return new Computation(grids).check();
}

function hasOpenFormulas(grid: Grid): boolean {
  for (let i = 0; i < grid.size; i += 1) if (isOpen(grid, i)) return true;
  return false;
}

/** Nothing is stored, or an empty text, which computing gives again. */
function isOpen(grid: Grid, i: number): boolean {
  return grid.formulaIds[i]! >= 0 && grid.kinds[i] === CellKind.text && grid.strings[grid.texts[i]!] === '';
}

class Computation {
  private readonly sheets = new Map<string, number>();
  private readonly names = new Map<string, { sheet: number; range: Range }>();
  private readonly trees = new Map<string, FormulaNode | null>();
  private readonly starts: Map<number, [number, number]>[];
  /** Results by sheet and cell; `null` while it is being computed. */
  private readonly results: Map<number, FormulaValue | Uncomputable | null>[];
  private reads = 0;
  private chain = 0;

  constructor(private readonly grids: Grid[]) {
    grids.forEach((grid, k) => {
      this.sheets.set(grid.sheet.toLowerCase(), k);
      for (const { name, range } of grid.names) this.names.set(name.toLowerCase(), { sheet: k, range });
    });
    this.starts = grids.map(indexRows);
    this.results = grids.map(() => new Map());
  }

  run(): Grid[] {
    return this.grids.map((grid, sheet) => {
      const open: number[] = [];
      for (let i = 0; i < grid.size; i += 1) if (isOpen(grid, i)) open.push(i);
      return open.length === 0 ? grid : this.fill(grid, sheet, open);
    });
  }

  check(): Grid[] {
    let left = MAX_CHECKED;
    this.reads = MAX_READS - MAX_CHECK_READS;
    return this.grids.map((grid, sheet) => {
      const stale = new Map<string, NonNullable<Grid['stale']>[number]>();
      for (let i = 0; i < grid.size && left > 0 && this.reads < MAX_READS; i += 1) {
        if (grid.formulaIds[i]! < 0 || grid.kinds[i] !== CellKind.number) continue;
        const formula = grid.formulas[grid.formulaIds[i]!]!;
        if (UNCHECKED.test(formula)) continue;
        left -= 1;
        const computed = this.compute(sheet, i);
        const stated = grid.numbers[i]!;
        if (typeof computed !== 'number' || isSameNumber(stated, computed)) continue;
        const cause = formula.replace(/\$?[A-Z]{1,3}\$?\d+/gi, '#').replace(/\d+/g, '#');
        const known = stale.get(cause) ?? { formula, stated, computed, cells: [] };
        known.cells.push(nameCell(grid.rows[i]!, grid.columns[i]!));
        stale.set(cause, known);
      }
      return stale.size === 0 ? grid : { ...grid, stale: [...stale.values()] };
    });
  }

  private fill(grid: Grid, sheet: number, open: number[]): Grid {
    const filled = {
      ...grid,
      kinds: grid.kinds.slice(),
      numbers: grid.numbers.slice(),
      texts: grid.texts.slice(),
      strings: [...grid.strings],
    };
    const failures = new Map<string, string[]>();
    const fail = (why: string, i: number) => {
      const cells = failures.get(why);
      const cell = nameCell(grid.rows[i]!, grid.columns[i]!);
      if (cells) cells.push(cell);
      else failures.set(why, [cell]);
    };
    for (const i of open) {
      const result = this.resultOf(sheet, i);
      if (result instanceof Uncomputable) fail(result.message, i);
      else if (result instanceof FormulaError) fail(`${result.code}, which is its result`, i);
      else store(filled, i, asScalar(isArray(result) ? (result[0]?.[0] ?? null) : result));
    }
    if (failures.size > 0) filled.uncomputed = [...failures].map(([why, cells]) => ({ why, cells }));
    return filled;
  }

  private resultOf(sheet: number, i: number): FormulaValue | Uncomputable {
    const known = this.results[sheet]!.get(i);
    if (known === null) return new Uncomputable('a cycle of formulas');
    if (known !== undefined) return known;
    this.results[sheet]!.set(i, null);
    const result = this.compute(sheet, i);
    this.results[sheet]!.set(i, result);
    return result;
  }

  private compute(sheet: number, i: number): FormulaValue | Uncomputable {
    const grid = this.grids[sheet]!;
    const formula = grid.formulas[grid.formulaIds[i]!]!;
    let tree = this.trees.get(formula);
    if (tree === undefined) {
      tree = parseFormula(formula);
      this.trees.set(formula, tree);
    }
    if (tree === null) return new Uncomputable('a formula that is not understood');
    if (this.chain >= MAX_CHAIN) return new Uncomputable('a chain of formulas that is too long');
    this.chain += 1;
    try {
      return this.evaluate(tree, { sheet, row: grid.rows[i]!, column: grid.columns[i]! });
    } catch (error) {
      if (error instanceof FormulaError || error instanceof Uncomputable) return error;
      // The library throws where it was not made for such arguments.
      return new Uncomputable('arguments that a function does not take');
    } finally {
      this.chain -= 1;
    }
  }

  private evaluate(node: FormulaNode, home: Home): FormulaValue {
    switch (node.kind) {
      case 'constant':
        return node.value;
      case 'error':
        throw new FormulaError(node.code);
      case 'area':
        return this.readArea(this.findSheet(node.sheet, home), node.range, home);
      case 'name': {
        const named = this.names.get(node.name.toLowerCase());
        if (!named) throw new Uncomputable(`the name ${node.name}`);
        return this.readArea(named.sheet, named.range, home);
      }
      case 'array':
        return node.rows.map((row) => row.map((each) => asScalar(this.evaluate(each, home))));
      case 'operation':
        return this.operate(node.operator, node.args, home);
      case 'call':
        return this.call(node.name, node.args, home);
    }
  }

  private findSheet(name: string | null, home: Home): number {
    if (name === null) return home.sheet;
    const sheet = this.sheets.get(name.toLowerCase());
    if (sheet === undefined) throw new Uncomputable(`the sheet ${name}`);
    return sheet;
  }

  /** One cell is its value; a range stands as rows, without what lies beyond the cells in use. */
  private readArea(sheet: number, range: Range, home: Home): FormulaValue {
    const grid = this.grids[sheet]!;
    if (range.top === range.bottom && range.left === range.right) {
      if (sheet === home.sheet && range.top === home.row && range.left === home.column) throw new Uncomputable('a cycle of formulas');
      return this.readCell(sheet, range.top, range.left);
    }
    const last = grid.size === 0 ? 0 : grid.rows[grid.size - 1]!;
    const bottom = Math.min(range.bottom, last);
    const right = Math.min(range.right, range.left + MAX_WIDTH);
    if (sheet === home.sheet && home.row >= range.top && home.row <= bottom && home.column >= range.left && home.column <= right)
      throw new Uncomputable('a cycle of formulas');
    const rows: (Scalar | FormulaError)[][] = [];
    for (let row = range.top; row <= Math.max(bottom, range.top); row += 1) {
      const values: (Scalar | FormulaError)[] = new Array<Scalar>(right - range.left + 1).fill(null);
      this.spend(values.length);
      const [from, to] = this.starts[sheet]!.get(row) ?? [0, 0];
      for (let i = from; i < to; i += 1) {
        const at = grid.columns[i]! - range.left;
        if (at >= 0 && at < values.length) values[at] = this.valueOf(sheet, i);
      }
      rows.push(values);
    }
    return rows;
  }

  private readCell(sheet: number, row: number, column: number): Scalar {
    this.spend(1);
    const [from, to] = this.starts[sheet]!.get(row) ?? [0, 0];
    const { columns } = this.grids[sheet]!;
    for (let i = from; i < to; i += 1) {
      if (columns[i] !== column) continue;
      const value = this.valueOf(sheet, i);
      if (value instanceof FormulaError) throw value;
      return value;
    }
    return null;
  }

  private spend(reads: number): void {
    this.reads += reads;
    if (this.reads > MAX_READS) throw new Uncomputable('more cells than are read for one file');
  }

  private valueOf(sheet: number, i: number): Scalar | FormulaError {
    const grid = this.grids[sheet]!;
    if (isOpen(grid, i)) {
      const result = this.resultOf(sheet, i);
      if (result instanceof Uncomputable) throw result;
      return isArray(result) ? (result[0]?.[0] ?? null) : result;
    }
    switch (grid.kinds[i]) {
      case CellKind.number:
        return grid.numbers[i]!;
      case CellKind.boolean:
        return grid.numbers[i] === 1;
      case CellKind.date:
        return serialOfMoment(grid.numbers[i]!, meaningOf(grid, i) === 'length');
      case CellKind.error:
        return new FormulaError(grid.strings[grid.texts[i]!] ?? '#VALUE!');
      default:
        return grid.strings[grid.texts[i]!] ?? null;
    }
  }

  private operate(operator: string, args: FormulaNode[], home: Home): FormulaValue {
    const [a = null, b = null] = args.map((arg) => this.evaluate(arg, home));
    switch (operator) {
      case 'negate':
        return -asNumber(a);
      case '%':
        return asNumber(a) / 100;
      case '+':
        return asNumber(a) + asNumber(b);
      case '-':
        return asNumber(a) - asNumber(b);
      case '*':
        return asNumber(a) * asNumber(b);
      case '/': {
        const by = asNumber(b);
        if (by === 0) throw new FormulaError('#DIV/0!');
        return asNumber(a) / by;
      }
      case '^':
        return checkFinite(asNumber(a) ** asNumber(b));
      case '&':
        return asText(a) + asText(b);
      default:
        return compare(operator, compareScalars(asScalar(a), asScalar(b)));
    }
  }

  /** Functions that compute only what they need, or look at where a reference stands; all others get values. */
  private call(name: string, args: FormulaNode[], home: Home): FormulaValue {
    const value = (k: number): FormulaValue => (args[k] ? this.evaluate(args[k], home) : null);
    switch (name) {
      case 'IF':
        return asTruth(value(0)) ? (args.length > 1 ? value(1) : true) : args.length > 2 ? value(2) : false;
      case 'IFERROR':
      case 'IFNA':
        return this.caught(args, home, name === 'IFNA');
      case 'ISERROR':
      case 'ISNA':
        return this.failed(args[0], home, name === 'ISNA');
      case 'ROW':
      case 'COLUMN': {
        const area = args[0];
        if (area && area.kind !== 'area') throw new Uncomputable(`${name} of what is no reference`);
        return name === 'ROW' ? (area?.range.top ?? home.row) : (area?.range.left ?? home.column);
      }
      default:
        return callFunction(
          name,
          args.map((arg) => this.evaluate(arg, home)),
        );
    }
  }

  private caught(args: FormulaNode[], home: Home, onlyNA: boolean): FormulaValue {
    try {
      const first = args[0] ? this.evaluate(args[0], home) : null;
      if (!(first instanceof FormulaError)) return first;
      throw first;
    } catch (error) {
      if (!(error instanceof FormulaError) || (onlyNA && error.code !== '#N/A')) throw error;
      return args[1] ? this.evaluate(args[1], home) : null;
    }
  }

  private failed(arg: FormulaNode | undefined, home: Home, onlyNA: boolean): boolean {
    try {
      return arg !== undefined && this.evaluate(arg, home) instanceof FormulaError;
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      return !onlyNA || error.code === '#N/A';
    }
  }
}

/** What depends on more than the cells: rows that a filter hides, the display, iterations, other files. */
const UNCHECKED = /\b(?:SUBTOTAL|AGGREGATE|CELL|INFO|GETPIVOTDATA)\(|\[/i;

/** Excel keeps 15 digits, and what cancels out leaves less. */
function isSameNumber(a: number, b: number): boolean {
  return Math.abs(a - b) <= Math.max(Math.abs(a), Math.abs(b)) * 1e-6 + 1e-6;
}

interface Home {
  sheet: number;
  row: number;
  column: number;
}

/** Whole rows are read up to this many columns. */
const MAX_WIDTH = 2_000;

function indexRows(grid: Grid): Map<number, [number, number]> {
  const rows = new Map<number, [number, number]>();
  for (let i = 0; i < grid.size; i += 1) {
    const known = rows.get(grid.rows[i]!);
    if (known) known[1] = i + 1;
    else rows.set(grid.rows[i]!, [i, i + 1]);
  }
  return rows;
}

function compare(operator: string, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '>':
      return order > 0;
    case '<=':
      return order <= 0;
    default:
      return order >= 0;
  }
}

function checkFinite(value: number): number {
  if (!Number.isFinite(value)) throw new FormulaError('#NUM!');
  return value;
}

function store(grid: Grid, i: number, value: Scalar): void {
  if (value === null || value === '') return;
  if (typeof value === 'string') {
    grid.texts[i] = grid.strings.length;
    grid.strings.push(value);
    return;
  }
  grid.texts[i] = -1;
  if (typeof value === 'boolean') {
    grid.kinds[i] = CellKind.boolean;
    grid.numbers[i] = value ? 1 : 0;
    return;
  }
  const meaning = meaningOf(grid, i);
  grid.kinds[i] = meaning === 'number' ? CellKind.number : CellKind.date;
  grid.numbers[i] = meaning === 'number' ? value : momentOfSerial(value, meaning === 'length');
}

function meaningOf(grid: Grid, i: number): ReturnType<typeof classifyFormat> {
  return classifyFormat((grid.styles[grid.styleIds[i]!] ?? PLAIN_STYLE).numberFormat);
}
