import type { Readable } from 'node:stream';
import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { streamRelation, withRelation } from '../duckdb/engine.ts';
import type { RowFormat } from '../duckdb/formats/streamRows.ts';
import { quoteName, type Relation } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { countBytes, fetchRows, openProjection, type PageRow, scanRows, selectFrom, windowBytes } from './fetchRows.ts';
import { listIdsAfter, readIds } from './findRowIds.ts';
import { lookUpRows } from './lookUpRows.ts';
import { requireSmallPage } from './pageSize.ts';
import type { Projection } from './projection.ts';
import type { TableStorage } from './tableStorage.ts';
import { readWideRows, streamWideRows } from './wideRows.ts';

/** A column that rows are sorted by; nulls come last. */
export interface OrderTerm {
  name: string;
  descending: boolean;
}

/** Ties are broken by row id, so that pages never overlap. */
export function orderSql(order: OrderTerm[]): string {
  const terms = order.map(({ name, descending }) => `${quoteName(name)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`);
  return `ORDER BY ${[...terms, rowIdColumn].join(', ')}`;
}

/** Up to `limit + 1` rows with ids above `after`. */
export async function readRowsAfter(storage: TableStorage, projection: Projection, limit: number, after: number): Promise<PageRow[]> {
  if (isWide(projection.columns))
    return readWideRows(storage, projection, await listIdsAfter(storage, projection.visible.at, after, limit + 1));
  const few = await lookUpRows(storage, projection, limit, after);
  if (few.rows.length > limit) return few.rows;
  return [...few.rows, ...(await scanRows(storage, projection, limit - few.rows.length, few.after))];
}

/** Streams the rows of a page in a binary format, in row order. */
export async function streamRowsBetween(
  storage: TableStorage,
  projection: Projection,
  ids: number[],
  format: RowFormat,
): Promise<Readable> {
  if (isWide(projection.columns)) return streamWideRows(storage, projection, ids);
  const relation = await openProjection(storage, projection, { min: ids[0] ?? 0, max: ids.at(-1) ?? 0 });
  return streamSelect(storage, projection, relation, `ORDER BY ${rowIdColumn}`, format);
}

export interface SortedRows {
  /** Up to `limit + 1` rows. */
  rows: PageRow[];
  /** Streams the page, without the extra row, in a binary format. */
  stream(format: RowFormat): Promise<Readable>;
}

export async function readSortedRows(
  storage: TableStorage,
  projection: Projection,
  order: OrderTerm[],
  { limit, offset }: { limit: number; offset: number },
): Promise<SortedRows> {
  const page = (count: number) => `${orderSql(order)} LIMIT ${count} OFFSET ${offset}`;
  const wide = isWide(projection.columns);
  const sortedBy = order.map(({ name }) => name);
  const relation = await openProjection(storage, wide ? { ...projection, columns: [] } : projection, null, sortedBy);
  // Only the ids of long rows are sorted; the rows are read afterwards.
  const isLong = wide || estimateRowBytes(projection.visible.at) * limit > windowBytes;
  const rows = isLong
    ? await readByIds(storage, projection, await selectIds(storage, relation, page(limit + 1)))
    : await selectFrom(storage, relation, projection.columns, page(limit + 1));
  requireSmallPage(countBytes(rows));
  return {
    rows,
    async stream(format) {
      if (!wide) return streamSelect(storage, projection, relation, page(limit), format);
      return streamWideRows(
        storage,
        projection,
        rows.slice(0, limit).map((row) => row.id),
      );
    },
  };
}

function readByIds(storage: TableStorage, projection: Projection, ids: number[]): Promise<PageRow[]> {
  return isWide(projection.columns) ? readWideRows(storage, projection, ids) : fetchRows(storage, projection, ids);
}

async function selectIds({ engine, blobs }: TableStorage, relation: Relation, rest: string): Promise<number[]> {
  return withRelation(engine, blobs, relation, (connection, from) => readIds(connection, `${from} ${rest}`));
}

function streamSelect(
  { engine, blobs }: TableStorage,
  { columns }: Projection,
  relation: Relation,
  rest: string,
  format: RowFormat,
): Promise<Readable> {
  const names = columns.map((column) => quoteName(column.name)).join(', ');
  return streamRelation(engine, blobs, relation, format, (from) => `SELECT ${names} FROM ${from} ${rest}`);
}
