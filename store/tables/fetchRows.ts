import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import { type RowSelection, rowIdColumn } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import { withRelation } from '../duckdb/engine.ts';
import { rowJson } from '../duckdb/json.ts';
import type { Relation } from '../duckdb/relation.ts';
import { openRelation } from './openRelation.ts';
import { requireSmallPage } from './pageSize.ts';
import { keepNamed, type Projection } from './projection.ts';
import type { TableStorage } from './tableStorage.ts';

export interface PageRow {
  id: number;
  /** The text of a JSON object. */
  json: string;
}

/** How much is read at a time. */
export const windowBytes = 16 * 1024 * 1024;

export const countBytes = (rows: PageRow[]) => rows.reduce((sum, { json }) => sum + json.length, 0);

/** The relation of a projection. Of wide tables it has only the projected columns and `others`. */
export function openProjection(
  storage: TableStorage,
  { visible, columns }: Projection,
  selection: RowSelection | null,
  others: string[] = [],
): Promise<Relation> {
  return openRelation(storage, keepNamed(visible, [...columns.map(({ name }) => name), ...others]), selection);
}

/** `rest` is SQL that follows the FROM clause. */
export async function selectFrom(storage: TableStorage, relation: Relation, columns: VisibleColumn[], rest: string): Promise<PageRow[]> {
  return withRelation(storage.engine, storage.blobs, relation, async (connection, from) => {
    const reader = await connection.runAndReadAll(
      `SELECT CAST(${rowIdColumn} AS DOUBLE), CAST(${rowJson(columns)} AS VARCHAR) FROM (SELECT * FROM ${from} ${rest})`,
    );
    return reader.getRows().map(([id, json]) => ({ id: id as number, json: json as string }));
  });
}

/** Rows of a selection, read by DuckDB; in any order unless `rest` sorts them. */
export async function selectRows(storage: TableStorage, projection: Projection, selection: RowSelection, rest = ''): Promise<PageRow[]> {
  return selectFrom(storage, await openProjection(storage, projection, selection), projection.columns, rest);
}

/** Rows by ids, in that order, read by DuckDB. Long rows are read in several parts. */
export async function fetchRows(storage: TableStorage, projection: Projection, ids: number[]): Promise<PageRow[]> {
  const rows: PageRow[] = [];
  let size = Math.max(1, Math.floor(windowBytes / estimateRowBytes(projection.visible.at, projection.columns)));
  while (rows.length < ids.length) {
    const part = ids.slice(rows.length, rows.length + size);
    const found = await selectRows(storage, projection, { ids: part });
    const byId = new Map(found.map((row) => [row.id, row]));
    rows.push(...part.map((id) => byId.get(id) as PageRow));
    requireSmallPage(countBytes(rows));
    size = Math.ceil((windowBytes * found.length) / countBytes(found));
  }
  return rows;
}

const firstWindow = 2_000;

/**
 * Up to `count` rows with ids above `start`, read by DuckDB. Reads windows of row ids, so that only their files are
 * opened; long rows need several windows.
 */
export async function scanRows(storage: TableStorage, projection: Projection, count: number, start: number): Promise<PageRow[]> {
  const { at } = projection.visible;
  const last = at.table.nextRowId - 1;
  const rows: PageRow[] = [];
  let after = start;
  let widest = Math.max(1, Math.floor(windowBytes / estimateRowBytes(at, projection.columns)));
  for (let width = Math.max(firstWindow, count * 2); rows.length < count && after < last; width *= 8) {
    const window: RowSelection = { min: after + 1, max: Math.min(last, after + Math.min(width, widest)) };
    const found = await selectRows(storage, projection, window, `ORDER BY ${rowIdColumn} LIMIT ${count - rows.length}`);
    rows.push(...found);
    requireSmallPage(countBytes(rows));
    // Adapts to the size of the rows read; grows quickly over gaps in the ids.
    widest = found.length === 0 ? widest * 8 : Math.ceil((windowBytes * found.length) / countBytes(found));
    after = window.max;
  }
  return rows;
}
