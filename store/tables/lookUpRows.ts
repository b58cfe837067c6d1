import { fillDefaults } from '../../core/table/cells.ts';
import { mayHold, settleRows } from '../../core/table/layers.ts';
import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import type { Cells, ColumnRecord, TableVersion } from '../../core/table/table.ts';
import { findFileRowRange } from '../duckdb/fileRows.ts';
import type { PageRow } from './fetchRows.ts';
import { describeCells, type Projection } from './projection.ts';
import { readLogLayers } from './readLogLayers.ts';
import type { TableStorage } from './tableStorage.ts';

/** Larger pages are left to DuckDB, which works in other threads. */
const few = { cells: 5_000, bytes: 1_000_000 };

export function isFew({ visible, columns }: Projection, count: number): boolean {
  return count * columns.length <= few.cells && count * estimateRowBytes(visible.at, columns) <= few.bytes;
}

/** Row ids are usually dense, so one or two reads give a page. Over large gaps DuckDB is faster. */
const mostLooks = 3;

/**
 * The first `count` rows with ids above `start`, and the id up to which was read. Reads the files without DuckDB, which
 * would take longer to plan a page than to read it.
 */
export async function lookUpRows(
  storage: TableStorage,
  projection: Projection,
  count: number,
  start: number,
): Promise<{ rows: PageRow[]; after: number }> {
  const rows: PageRow[] = [];
  let after = start;
  if (!isFew(projection, count)) return { rows, after };
  const { columns } = projection;
  const { at } = projection.visible;
  const { cells, stored } = describeCells(columns);
  const writeRow = (row: StoredRow) => {
    const texts = cells.map(({ column, key, isRowId, write }) => `${key}:${isRowId ? row.id : write(row.cells[column.id] ?? null)}`);
    return `{${texts.join(',')}}`;
  };
  const last = at.table.nextRowId - 1;
  for (let look = 0; look < mostLooks && rows.length < count && after < last; look += 1) {
    const span = { min: after + 1, max: Math.min(last, after + count) };
    const found = await readSpan(storage, at, span, stored);
    if (!found) break;
    for (const row of found) rows.push({ id: row.id, json: writeRow(row) });
    after = span.max;
  }
  return { rows, after };
}

interface StoredRow {
  id: number;
  cells: Cells;
}

/** With more files than this DuckDB is faster. */
const mostFiles = 24;

/** The rows in a range of ids, in order, with some of their columns, read without DuckDB. Null: only DuckDB can read them. */
async function readSpan(
  storage: TableStorage,
  at: TableVersion,
  span: { min: number; max: number },
  columns: ColumnRecord[],
): Promise<StoredRow[] | null> {
  const keys = at.layers.flatMap((layer) => (layer.kind !== 'log' && mayHold(layer, span) ? [layer.key] : []));
  if (keys.length > mostFiles) return null;
  const entries = await readLogLayers(storage, at, span);
  const ids = columns.map(({ id }) => id);
  const files = await storage.blobs.open(keys);
  try {
    const settled = await settleRows(at.layers, entries, (layer) =>
      mayHold(layer, span) ? findFileRowRange(files.pathOf(layer.key), span, ids) : new Map(),
    );
    if (!settled) return null;
    return [...settled].flatMap(([id, cells]) => (cells ? [{ id, cells: fillDefaults(columns, cells) }] : [])).sort((a, b) => a.id - b.id);
  } finally {
    files.release();
  }
}
