import { DomainError } from '../../core/errors.ts';
import type { Grid } from '../../core/grid/grid.ts';
import type { Flows } from '../../core/lineage/flows.ts';
import type { IdRun } from '../../core/merge/rowMatcher.ts';
import type { OutputTable } from '../../core/structuring/index.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import { type Layer, rowIdColumn } from '../../core/table/table.ts';
import { fieldIds, innerName } from '../../store/duckdb/buildRelation.ts';
import {
  type DraftStorage,
  type FileColumn,
  putEach,
  putValue,
  type ValueSource,
  type WrittenFile,
  writeValues,
} from '../../store/duckdb/writeFile.ts';
import type { EncodedTexts } from '../../store/parquet/encodedTexts.ts';
import { keptColumns, provenanceColumns } from '../../store/tables/sourceCells.ts';
import type { WrittenTable } from './landTables.ts';
import { listFormulas } from './listFormulas.ts';
import { listBlocks, type ProvenanceBlock } from './provenanceBlocks.ts';
import { addBytes, openTexts, putList } from './putList.ts';
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
  const total = tables.reduce((sum, table) => sum + table.rowCount, 0);
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
      const files = { storage, prefix: at.prefix, step: reportStep, keys };
      const work = new TableWork(table, grid, at, files, limits);
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
  if (table.rowCount === 0) return null;
  const files = { storage, prefix: place.prefix, step() {}, keys: [] };
  return new TableWork(table, grid, place, files, tableLimits).writeProvenance();
}

function checkWidth({ name, columns }: OutputTable, limits: TableLimits): void {
  if (columns.length <= limits.columns) return;
  throw new DomainError(
    'too-large',
    `The table ${name} would have ${columns.length} columns; ${limits.columns} are possible.`,
    'Split the sheet into narrower tables, or choose narrower regions.',
  );
}

interface Files {
  storage: DraftStorage;
  prefix: string;
  /** Reports progress. */
  step(): void;
  /** Of the files that were written. */
  keys: string[];
}

/** More than this to say is not said. */
const mostFlows = 50_000;

class TableWork {
  private blocks: ProvenanceBlock[] | null = null;
  private readonly order: RowOrder;
  private readonly texts: EncodedTexts;

  constructor(
    private readonly table: OutputTable,
    private readonly grid: Grid,
    private readonly place: TableTarget,
    private readonly files: Files,
    private readonly limits: TableLimits,
  ) {
    this.order = new RowOrder(table.rowCount, place.rowBase, place.rowIds);
    this.texts = openTexts(grid);
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
    for (const [from, to] of cutSegments(this.measureRows(), this.order, this.limits)) {
      const file = await this.writeRows(columns, from, to);
      layers.push({ kind: 'segment', ...file, rows: to - from, minRow: this.order.idAt(from), maxRow: this.order.idAt(to - 1) });
      wrote(to - from);
    }
    return layers;
  }

  async describe(layers: Layer[]): Promise<WrittenTable> {
    const { name, role, sheet, regionId, range, columns, rowCount } = this.table;
    const provenanceKey = await this.writeProvenance();
    const kept = await this.writeKept();
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
    const blocks = this.listBlocks();
    const fields = [
      ({ rowNumber }: ProvenanceBlock) => rowNumber,
      ({ rows }: ProvenanceBlock) => rows,
      ({ columnId }: ProvenanceBlock) => columnId,
      ({ sheetRow }: ProvenanceBlock) => sheetRow,
      ({ sheetColumn }: ProvenanceBlock) => sheetColumn,
      ({ length }: ProvenanceBlock) => length,
    ];
    const put = putEach((row, column) => fields[column]?.(blocks[row] as ProvenanceBlock) ?? null);
    return (await this.writeValues(provenanceColumns, blocks.length, put)).key;
  }

  private async writeValues(columns: FileColumn[], rows: number, put: ValueSource['put']): Promise<WrittenFile> {
    const { storage, prefix, step, keys } = this.files;
    step();
    const file = await writeValues(storage, prefix, columns, { rows, put, step });
    keys.push(file.key);
    return file;
  }

  /** With the row id before the columns. */
  private writeRows(columns: FileColumn[], from: number, to: number): Promise<WrittenFile> {
    const { order, texts, table } = this;
    return this.writeValues(columns, to - from, (target, column, first, last) => {
      const positionAt = (row: number) => order.positionAt(from + first + row);
      if (column === 0) for (let row = 0; row < last - first; row += 1) putValue(target, row, order.idOf(positionAt(row)));
      else putList(target, table.values[column - 1] ?? [], last - first, positionAt, texts);
    });
  }

  /** The most bytes that each row can take. */
  private measureRows(): Float64Array {
    const bytes = new Float64Array(this.table.rowCount).fill(8);
    for (const list of this.table.values) addBytes(bytes, list, this.texts);
    return bytes;
  }

  private listBlocks(): ProvenanceBlock[] {
    this.blocks ??= listBlocks(this.grid, this.table.provenance, this.order, (position) => this.idOf(position));
    return this.blocks;
  }

  private describeFlows(): Flows | null {
    const reached = new Map<number, Set<number>>();
    let count = 0;
    const seen = new Set<string>();
    for (const { columnId: id, sheetColumn, length } of this.listBlocks()) {
      const run = `${id} ${sheetColumn} ${length}`;
      if (seen.has(run)) continue;
      seen.add(run);
      count += length;
      if (count > mostFlows) return null;
      // Cells that filled no column count as column 0.
      for (let step = id === 0 ? 1 : 0; step < length; step += 1)
        reached.set(sheetColumn + step, (reached.get(sheetColumn + step) ?? new Set()).add(id + step));
    }
    return { rows: 'all', columns: Object.fromEntries([...reached].map(([column, ids]) => [column, [...ids]])) };
  }

  private async writeKept(): Promise<WrittenTable['kept']> {
    const [rows, columns, stored, formulas] = [[] as number[], [] as number[], [] as (string | null)[], [] as string[]];
    for (const cell of listFormulas(this.grid, this.table)) {
      rows.push(this.order.numberOf(cell.row));
      columns.push(this.idOf(cell.column));
      stored.push(cell.stored);
      formulas.push(cell.formula);
    }
    if (rows.length === 0) return null;
    const fields = [rows, columns, stored, formulas];
    const put = putEach((row, column) => fields[column]?.[row] ?? null);
    const { key } = await this.writeValues([...keptColumns], rows.length, put);
    return { key, formulas: rows.length, values: stored.filter((text) => text !== null).length };
  }
}

/** Spans of rows small enough for a file. */
function cutSegments(sizes: Float64Array, order: RowOrder, limits: TableLimits): [from: number, to: number][] {
  const most = 0.9 * limits.fileBytes;
  const spans: [number, number][] = [];
  let [from, bytes] = [0, 0];
  for (let n = 0; n < order.count; n += 1) {
    const own = sizes[order.positionAt(n)] ?? 0;
    if (n > from && (n - from >= limits.fileRows || bytes + own > most)) {
      spans.push([from, n]);
      [from, bytes] = [n, 0];
    }
    bytes += own;
  }
  if (order.count > from) spans.push([from, order.count]);
  return spans;
}
