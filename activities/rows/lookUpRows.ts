import { cellJson } from '../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { fillDefaults } from '../../core/table/cells.ts';
import { mayHold, settleRows } from '../../core/table/layers.ts';
import { type Cells, type ColumnRecord, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { findRowRange } from '../../store/duckdb/findRows.ts';
import type { RelationColumn } from '../../store/duckdb/relation.ts';
import type { Services } from '../../store/services.ts';
import { readLogLayers } from '../tables/readLayers.ts';
import { estimateRowBytes } from '../tables/rowBytes.ts';

export interface PageRow {
  id: number;
  /** The text of a JSON object. */
  json: string;
}

/** What is more than this is left to an engine, which works in the background. */
const few = { cells: 5_000, bytes: 1_000_000 };
/** Row ids are dense or nearly so: the first look mostly has the page. Where it has not, an engine soon sees further. */
const mostLooks = 3;

/**
 * The rows after a place in row order, one more than asked for if there are, and how far was looked. Their bytes are looked up
 * where they lie: for one page, an engine takes longer to plan than to read.
 */
export async function lookUpRows(
  services: Services,
  at: TableAt,
  columns: RelationColumn[],
  limit: number,
  start: number,
): Promise<{ rows: PageRow[]; after: number }> {
  const rows: PageRow[] = [];
  let after = start;
  const wanted = limit + 1;
  if (wanted * columns.length > few.cells || wanted * estimateRowBytes(at) > few.bytes) return { rows, after };
  const { stored, write } = describeCells(at, columns);
  const last = at.table.nextRowId - 1;
  for (let look = 0; look < mostLooks && rows.length <= limit && after < last; look += 1) {
    const span = { min: after + 1, max: Math.min(last, after + wanted) };
    const found = await readSpan(services, at, span, stored);
    if (!found) break;
    for (const row of found) rows.push({ id: row.id, json: write(row) });
    after = span.max;
  }
  return { rows, after };
}

/** What is to be read for some columns, and how a row of it is written: as the engine writes it. */
function describeCells(at: TableAt, columns: RelationColumn[]): { stored: ColumnRecord[]; write(row: StoredRow): string } {
  const byName = new Map(at.columns.map((column) => [column.name, column]));
  const cells = columns.map(({ name, masked }) => {
    const column = masked ? undefined : byName.get(name);
    const type = column && (parseColumnType(column.type) as ColumnType);
    const textOf = (row: StoredRow) =>
      column && type ? cellJson(type, row.cells[column.id] ?? null) : name === rowIdColumn ? String(row.id) : 'null';
    return { column, key: JSON.stringify(name), textOf };
  });
  return {
    stored: cells.flatMap(({ column }) => column ?? []),
    write: (row) => `{${cells.map(({ key, textOf }) => `${key}:${textOf(row)}`).join(',')}}`,
  };
}

interface StoredRow {
  id: number;
  cells: Cells;
}

/** So many files are looked into one after the other; beyond that an engine is quicker. */
const mostFiles = 24;

/**
 * The rows whose ids lie in a range, in order, with some of their columns, looked up without an engine. Null when that takes
 * one.
 */
async function readSpan(
  services: Services,
  at: TableAt,
  span: { min: number; max: number },
  columns: ColumnRecord[],
): Promise<StoredRow[] | null> {
  const keys = at.layers.flatMap((layer) => (layer.kind !== 'log' && mayHold(layer, span) ? [layer.key] : []));
  if (keys.length > mostFiles) return null;
  const entries = await readLogLayers(services, at, span);
  const ids = columns.map(({ id }) => id);
  const files = await services.blobs.open(keys);
  try {
    const settled = await settleRows(at.layers, entries, (layer) =>
      mayHold(layer, span) ? findRowRange(files.pathOf(layer.key), span, ids) : new Map(),
    );
    if (!settled) return null;
    return [...settled].flatMap(([id, cells]) => (cells ? [{ id, cells: fillDefaults(columns, cells) }] : [])).sort((a, b) => a.id - b.id);
  } finally {
    files.release();
  }
}
