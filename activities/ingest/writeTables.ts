import { DomainError } from '../../core/errors.ts';
import type { Grid } from '../../core/grid/grid.ts';
import type { Flows } from '../../core/lineage/flows.ts';
import type { IdRun } from '../../core/merge/rowMatcher.ts';
import type { OutputTable } from '../../core/structuring/index.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import { type Layer, rowIdColumn } from '../../core/table/table.ts';
import type { StoredValue } from '../../core/types/index.ts';
import { fieldIds, innerName } from '../../store/duckdb/buildRelation.ts';
import { csvField, type DraftStorage, type FileColumn, type LineForm, type WrittenFile, writeLines } from '../../store/duckdb/writeFile.ts';
import { keptColumns, provenanceColumns, provenanceRuns } from '../../store/tables/sourceCells.ts';
import type { WrittenTable } from './landTables.ts';
import { type FormulaCell, listFormulas } from './listFormulas.ts';
import { RowOrder } from './rowOrder.ts';

export interface TablesWatch {
  /** Rows so far, and their total. */
  step(done: number, total: number): void;
  signal?: AbortSignal;
}

/** Where a table is written. */
export interface TableTarget {
  tableId: string;
  prefix: string;
  /** Row ids are this plus the row's position. */
  rowBase: number;
  /** Column ids by position. */
  columnIds: number[];
  /** The ids of the rows in their order, if they are not those after `rowBase`. */
  rowIds?: IdRun[];
}

/** Limits of the files of a table. */
export interface TableLimits {
  fileRows: number;
  fileBytes: number;
  /** DuckDB holds a vector per column; more columns do not fit into its memory. */
  columns: number;
}

export const tableLimits: TableLimits = {
  fileRows: compactionLimits.fileRows,
  fileBytes: compactionLimits.fileBytes,
  columns: 4_096,
};

/** Rows between two progress reports. */
const stepLines = 8_192;

/** Writes the tables of a structured file to the blob store. If anything fails, no file remains. */
export async function writeTables(
  storage: DraftStorage,
  grids: Grid[],
  tables: OutputTable[],
  places: TableTarget[],
  watch: TablesWatch,
  limits: TableLimits = tableLimits,
): Promise<WrittenTable[]> {
  for (const table of tables) checkWidth(table, limits);
  const bySheet = new Map(grids.map((grid) => [grid.sheet, grid]));
  const total = tables.reduce((sum, table) => sum + table.rows.length, 0);
  const keys: string[] = [];
  const written: WrittenTable[] = [];
  let done = 0;
  const reportStep = () => {
    watch.signal?.throwIfAborted();
    watch.step(done, total);
  };
  try {
    for (const [index, table] of tables.entries()) {
      const grid = bySheet.get(table.sheet);
      if (!grid) throw new Error(`no grid for the sheet of table ${table.name}`);
      const at = places[index];
      if (!at) throw new Error(`no place for table ${table.name}`);
      const write: WriteFile = async (columns, lines, form) => {
        reportStep();
        const file = await writeLines(storage, at.prefix, columns, paced(lines, reportStep), form);
        keys.push(file.key);
        return file;
      };
      const work = new TableWork(table, grid, at, write, limits);
      const layers = await work.writeSegments((rows) => {
        done += rows;
      });
      written.push(await work.describe(layers));
    }
    reportStep();
    return written;
  } catch (error) {
    for (const key of keys) await storage.blobs.remove(key);
    throw error;
  }
}

/** The cells behind rows appended to another table, under that table's column ids; null without rows. */
export async function writeProvenance(storage: DraftStorage, grid: Grid, table: OutputTable, place: TableTarget): Promise<string | null> {
  if (table.rows.length === 0) return null;
  const write: WriteFile = (columns, lines, form) => writeLines(storage, place.prefix, columns, lines, form);
  return new TableWork(table, grid, place, write, tableLimits).writeProvenance();
}

function checkWidth({ name, columns }: OutputTable, limits: TableLimits): void {
  if (columns.length <= limits.columns) return;
  throw new DomainError(
    'too-large',
    `The table ${name} would have ${columns.length} columns; ${limits.columns} are possible.`,
    'Split the sheet into narrower tables, or choose narrower regions.',
  );
}

function* paced(lines: Iterable<string>, reportStep: () => void): Generator<string> {
  let n = 0;
  for (const line of lines) {
    n += 1;
    if (n % stepLines === 0) reportStep();
    yield line;
  }
}

type WriteFile = (columns: FileColumn[], lines: Iterable<string>, form?: LineForm) => Promise<WrittenFile>;

/** More than this to say is not said. */
const mostFlows = 50_000;
const widest = 2 ** 15;

class TableWork {
  /** Different runs of neighbouring cells, as (column id, sheet column, length) in one number: few, as rows are alike. */
  private readonly runs = new Set<number>();
  private readonly order: RowOrder;

  constructor(
    private readonly table: OutputTable,
    private readonly grid: Grid,
    private readonly place: TableTarget,
    private readonly write: WriteFile,
    private readonly limits: TableLimits,
  ) {
    this.order = new RowOrder(table.rows.length, place.rowBase, place.rowIds);
  }

  /** 0 for no column. */
  private idOf(position: number): number {
    return this.place.columnIds[position] ?? 0;
  }

  async writeSegments(wrote: (rows: number) => void): Promise<Layer[]> {
    const columns: FileColumn[] = [
      { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' },
      ...this.table.columns.map(({ type }, k) => ({ id: this.idOf(k), name: innerName(this.idOf(k)), type })),
    ];
    const layers: Layer[] = [];
    for (const [from, to] of cutSegments(this.table.rows, this.order, this.limits)) {
      const file = await this.write(columns, this.rowLines(from, to));
      layers.push({ kind: 'segment', ...file, rows: to - from, minRow: this.order.idAt(from), maxRow: this.order.idAt(to - 1) });
      wrote(to - from);
    }
    return layers;
  }

  async describe(layers: Layer[]): Promise<WrittenTable> {
    const { name, role, sheet, regionId, range, columns, rows } = this.table;
    const provenanceKey = await this.writeProvenance();
    const kept = await this.writeKept();
    const { length: rowCount } = rows;
    const maxRowId = rowCount > 0 ? this.order.idAt(rowCount - 1) : this.order.rowBase;
    return {
      tableId: this.place.tableId,
      name,
      role,
      sheet,
      regionId,
      range,
      columns: columns.map((column, k) => ({ id: this.idOf(k), ...column })),
      rowCount,
      rowBase: this.order.rowBase,
      ...(this.place.rowIds ? { hasKeptIds: true as const } : {}),
      maxRowId,
      layers,
      provenanceKey,
      flows: this.describeFlows(),
      kept,
    };
  }

  async writeProvenance(): Promise<string> {
    return (await this.write(provenanceColumns, this.provenanceLines(), provenanceRuns)).key;
  }

  private *rowLines(from: number, to: number): Generator<string> {
    for (let n = from; n < to; n += 1) {
      const position = this.order.positionAt(n);
      let line = String(this.order.idOf(position));
      for (const value of this.table.rows[position] ?? [])
        line += `,${typeof value === 'string' || value === null ? csvField(value) : value}`;
      yield line;
    }
  }

  private *provenanceLines(): Generator<string> {
    const { offsets, cells, columns } = this.table.provenance;
    const { rows: sheetRows, columns: sheetColumns } = this.grid;
    for (let n = 0; n < this.order.count; n += 1) {
      const position = this.order.positionAt(n);
      const end = offsets[position + 1] ?? 0;
      for (let k = offsets[position] ?? 0; k < end; ) {
        const [cell = 0, column = -1] = [cells[k], columns[k]];
        const [sheetRow = 0, sheetColumn = 0] = [sheetRows[cell], sheetColumns[cell]];
        let length = 1;
        const isNext = (at: number, step: number) =>
          this.idOf(columns[at] ?? -1) === this.idOf(column) + step &&
          sheetRows[cells[at] ?? 0] === sheetRow &&
          sheetColumns[cells[at] ?? 0] === sheetColumn + step;
        while (k + length < end && isNext(k + length, length)) length += 1;
        this.runs.add((this.idOf(column) * widest + sheetColumn) * widest + length);
        yield `${this.order.numberOf(position)},${this.idOf(column)},${sheetRow},${sheetColumn},${length}`;
        k += length;
      }
    }
  }

  /** Known once the provenance is written. */
  private describeFlows(): Flows | null {
    const reached = new Map<number, Set<number>>();
    let count = 0;
    for (const run of this.runs) {
      const length = run % widest;
      const sheetColumn = Math.floor(run / widest) % widest;
      const id = Math.floor(run / widest / widest);
      count += length;
      if (count > mostFlows) return null;
      // Cells that filled no column count as column 0.
      for (let step = id === 0 ? 1 : 0; step < length; step += 1)
        reached.set(sheetColumn + step, (reached.get(sheetColumn + step) ?? new Set()).add(id + step));
    }
    return { rows: 'all', columns: Object.fromEntries([...reached].map(([column, ids]) => [column, [...ids]])) };
  }

  private async writeKept(): Promise<WrittenTable['kept']> {
    const cells = listFormulas(this.grid, this.table);
    const first = cells.next();
    if (first.done) return null;
    const counts = { formulas: 0, values: 0 };
    const { key } = await this.write(keptColumns, this.keptLines(first.value, cells, counts));
    return { key, ...counts };
  }

  private *keptLines(first: FormulaCell, rest: Iterable<FormulaCell>, counts: { formulas: number; values: number }): Generator<string> {
    const lineOf = ({ row, column, stored, formula }: FormulaCell) => {
      counts.formulas += 1;
      if (stored !== null) counts.values += 1;
      return `${this.order.numberOf(row)},${this.idOf(column)},${csvField(stored)},${csvField(formula)}`;
    };
    yield lineOf(first);
    for (const cell of rest) yield lineOf(cell);
  }
}

/** Spans of rows small enough for a file, by the largest size their values can have. */
function cutSegments(rows: StoredValue[][], order: RowOrder, limits: TableLimits): [from: number, to: number][] {
  const most = 0.9 * limits.fileBytes;
  const spans: [number, number][] = [];
  let [from, bytes] = [0, 0];
  for (let n = 0; n < order.count; n += 1) {
    const own = countBytes(rows[order.positionAt(n)] ?? []);
    if (n > from && (n - from >= limits.fileRows || bytes + own > most)) {
      spans.push([from, n]);
      [from, bytes] = [n, 0];
    }
    bytes += own;
  }
  if (order.count > from) spans.push([from, order.count]);
  return spans;
}

function countBytes(row: StoredValue[]): number {
  let bytes = 8;
  for (const value of row) bytes += typeof value === 'string' ? Math.max(16, Buffer.byteLength(value) + 4) : 8;
  return bytes;
}
