import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readKept } from '../../activities/ingest/fileProgram/readKept.ts';
import { rawLimits } from '../../activities/ingest/rawLimits.ts';
import { type RawFile, type RawResult, type RawSheet, type RawWatch, writeGrids, writeRaw } from '../../activities/ingest/writeRaw.ts';
import { formatCell } from '../../core/grid/format/formatCell.ts';
import { storedText } from '../../core/grid/format/storedText.ts';
import type { CellKind, Grid } from '../../core/grid/grid.ts';
import { listRows } from '../../core/structuring/building/output.ts';
import { buildRawTable } from '../../core/structuring/building/raw.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { openFolderStore } from '../../store/blobs/folderStore.ts';
import { buildRelation, noTail } from '../../store/duckdb/buildRelation.ts';
import { type Engine, openEngine, readAll, withRelation } from '../../store/duckdb/engine.ts';
import { quoteName, quoteText } from '../../store/duckdb/relation.ts';

export type Row = [rowId: number, ...texts: (string | null)[]];
export type KeptRow = [rowId: number, column: number, stored: string, formula: string | null];

/** A blob store and an engine, as raw tables need them, in a folder of their own. */
export interface RawStore {
  blobs: BlobStore;
  engine: Engine;
  /** Writes the bytes to a file and that as raw tables, all with row ids from 0. */
  write(bytes: Uint8Array | string, options?: WriteOptions): Promise<RawResult>;
  /** By way of the relation that readers use. */
  readRows(sheet: RawSheet): Promise<Row[]>;
  readKept(sheet: RawSheet): Promise<KeptRow[]>;
  /** Blobs and drafts. */
  listFiles(): Promise<string[]>;
  close(): Promise<void>;
}

export interface WriteOptions {
  file?: Partial<RawFile>;
  watch?: Partial<RawWatch>;
  rowBase?: number;
  limits?: Partial<typeof rawLimits>;
}

/** All but the names and sizes of its files. */
const describeSheet = ({ layers, kept, ...told }: RawSheet) => ({
  ...told,
  layers: layers.map((layer) => ({ ...layer, key: '', bytes: 0 })),
  kept: kept && { ...kept, key: '' },
});

export async function openRawStore(): Promise<RawStore> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-raw-'));
  const blobs = await openFolderStore(join(folder, 'blobs'));
  const engine = await openEngine({ connections: 1, memoryLimitMb: 1024 });
  let files = 0;
  return {
    blobs,
    engine,
    async write(bytes, { file, watch, rowBase = 0, limits } = {}) {
      let path = typeof bytes === 'string' ? bytes : join(folder, `file-${files}`);
      if (typeof bytes !== 'string') await writeFile(path, bytes);
      files += 1;
      path = file?.path ?? path;
      const place = (index: number) => ({ prefix: `acc_1/wb_1/tbl_${index}`, rowBase });
      const bounds = { ...rawLimits, ...limits };
      const source = { format: 'xlsx', filename: 'file.xlsx', ...file, path } as const;
      const scanned = await writeRaw({ blobs }, source, place, { step() {}, ...watch }, bounds);
      // What is kept in memory on the way is written alike.
      if (!watch && source.format === 'xlsx') {
        const cells = scanned.sheets.reduce((sum, each) => sum + each.cells, 0);
        const keep = (cellsInMemory: number) => readKept(path, { cellsInMemory, formulaCharacters: 1_000_000 }, () => {});
        expect(await keep(cells - 1)).toBeNull();
        const grids = await keep(1_000_000);
        const sheets = grids ? await writeGrids({ blobs }, grids, place, bounds) : [];
        if (grids) expect(sheets.map(describeSheet)).toEqual(scanned.sheets.map(describeSheet));
        if (grids) expect(grids.reduce((sum, { size }) => sum + size, 0)).toBe(cells);
        for (const { layers, kept } of sheets)
          for (const key of [...layers.map((layer) => ('key' in layer ? layer.key : '')), kept?.key ?? ''])
            if (key !== '') await blobs.remove(key);
      }
      return scanned;
    },
    async readRows(sheet) {
      const at = {
        table: { name: 'raw' },
        columns: columnsOf(sheet),
        layers: sheet.layers,
        rowCount: sheet.rowCount,
      } as unknown as TableAt;
      const names = sheet.columns.map(({ name }) => quoteName(name));
      return withRelation(engine, blobs, buildRelation(seeEverything(at), noTail, null), async (connection, from) => {
        const rows = await readAll(connection, `SELECT ${[`${rowIdColumn}::DOUBLE`, ...names].join(', ')} FROM ${from}`);
        return rows as unknown as Row[];
      });
    },
    async readKept(sheet) {
      const { kept } = sheet;
      if (!kept) return [];
      const opened = await blobs.open([kept.key]);
      return engine.use(async (connection) => {
        const path = quoteText(opened.pathOf(kept.key));
        const rows = await readAll(
          connection,
          `SELECT row_number::DOUBLE, column_id, stored, formula FROM read_parquet(${path}) ORDER BY row_number, column_id`,
        );
        return rows as unknown as KeptRow[];
      });
    },
    async listFiles() {
      const found = await readdir(join(folder, 'blobs'), { recursive: true, withFileTypes: true });
      return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    },
    async close() {
      await engine.close();
      await blobs.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function columnsOf(sheet: RawSheet): ColumnRecord[] {
  return sheet.columns.map(
    ({ name, type }, i) => ({ id: i + 1, name, type, position: i + 1, defaultText: null }) as unknown as ColumnRecord,
  );
}

/** What must come out for a grid, by the definition of a raw table. */
export function expectedRows(grid: Grid, rowBase = 0): Row[] {
  const numbers = [...new Set(grid.rows.subarray(0, grid.size))];
  // Half of a pair of code units is no character; a file cannot hold it.
  return listRows(buildRawTable(grid)).map((row, i) => [
    rowBase + (numbers[i] ?? 0),
    ...row.map((text) => (typeof text === 'string' ? text.toWellFormed() : null)),
  ]);
}

/** Cells with a formula, and cells that show something else than they hold. */
export function expectedKept(grid: Grid): KeptRow[] {
  const kept: KeptRow[] = [];
  for (let i = 0; i < grid.size; i += 1) {
    const stored = storedText(grid.kinds[i] as CellKind, grid.numbers[i] ?? 0, grid.strings[grid.texts[i] ?? -1] ?? '');
    const formula = grid.formulas[grid.formulaIds[i] ?? -1];
    if (formula === undefined && stored === formatCell(grid, i)) continue;
    kept.push([grid.rows[i] ?? 0, grid.columns[i] ?? 0, stored.toWellFormed(), formula?.toWellFormed() ?? null]);
  }
  return kept;
}
