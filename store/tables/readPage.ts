import type { Readable } from 'node:stream';
import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { openFrom, withRelation } from '../duckdb/engine.ts';
import { streamParts } from '../duckdb/formats/streamParts.ts';
import type { DataFormat } from '../duckdb/formats/streamRows.ts';
import { quoteName, type Relation } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { countBytes, fetchRows, openProjection, type PageRow, scanRows, selectFrom, windowBytes } from './fetchRows.ts';
import { listIdsAfter, readIds } from './findRowIds.ts';
import { lookUpRows } from './lookUpRows.ts';
import { pageLimit, requireSmallPage } from './pageSize.ts';
import type { Projection } from './projection.ts';
import { describeRows, divideList } from './rowSources.ts';
import { streamWideRows } from './streamWideRows.ts';
import { noRow } from './tableDiff.ts';
import type { TableStorage } from './tableStorage.ts';
import { readWideRows } from './wideRows.ts';

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

/** The first `count` rows with ids above `after`, or a few more. */
export async function readRowsAfter(storage: TableStorage, projection: Projection, count: number, after: number): Promise<PageRow[]> {
  if (isWide(projection.columns))
    return readWideRows(storage, projection, await listIdsAfter(storage, projection.visible.at, after, count));
  const few = await lookUpRows(storage, projection, count, after);
  if (few.rows.length >= count) return few.rows;
  return [...few.rows, ...(await scanRows(storage, projection, count - few.rows.length, few.after))];
}

/** Streams the rows of a page, in row order. */
export async function streamRowsBetween(
  storage: TableStorage,
  projection: Projection,
  ids: number[],
  format: DataFormat,
): Promise<Readable> {
  if (isWide(projection.columns)) return streamWideRows(storage, projection, ids, format);
  return streamParts(
    storage,
    {
      ...describeRows(projection),
      spans: [{ min: ids[0] ?? 0, max: ids.at(-1) ?? 0 }],
      open: async (connection, span) => openFrom(connection, storage.blobs, await openProjection(storage, projection, span)),
      most: pageLimit,
    },
    format,
    'quick',
  );
}

interface Place {
  offset: number;
  count: number;
}

const sortedPage = (order: OrderTerm[], { offset, count }: Place) => `${orderSql(order)} LIMIT ${count} OFFSET ${offset}`;

/** Opens the columns that rows are sorted by, and those that are shown unless they are very many. */
function openSorted(storage: TableStorage, projection: Projection, order: OrderTerm[]): Promise<Relation> {
  const shown = isWide(projection.columns) ? { ...projection, columns: [] } : projection;
  return openProjection(
    storage,
    shown,
    null,
    order.map(({ name }) => name),
  );
}

export async function readSortedRows(storage: TableStorage, projection: Projection, order: OrderTerm[], place: Place): Promise<PageRow[]> {
  const relation = await openSorted(storage, projection, order);
  // Only the ids of long rows are sorted; the rows are read afterwards.
  const isLong = isWide(projection.columns) || estimateRowBytes(projection.visible.at, projection.columns) * place.count > windowBytes;
  const page = sortedPage(order, place);
  const rows = isLong
    ? await readRowsByIds(storage, projection, await selectIds(storage, relation, page))
    : await selectFrom(storage, relation, projection.columns, page);
  requireSmallPage(countBytes(rows));
  return rows;
}

/** Whether sorting a page of so many rows would take more memory than an API process has to give. */
export const sortsLongValues = ({ visible }: Projection, count: number) => estimateRowBytes(visible.at, []) * count > windowBytes;

/** The ids of a sorted page; reads only what it is sorted by. */
export async function listSortedIds(storage: TableStorage, projection: Projection, order: OrderTerm[], place: Place): Promise<number[]> {
  return selectIds(storage, await openSorted(storage, { ...projection, columns: [] }, order), sortedPage(order, place));
}

/** Streams the rows of a page by their ids, in the order of these. */
export async function streamRowsByIds(storage: TableStorage, projection: Projection, ids: number[], format: DataFormat): Promise<Readable> {
  if (isWide(projection.columns)) return streamWideRows(storage, projection, ids, format);
  const { columns, lengths, place } = describeRows(projection);
  const names = projection.columns.map(({ name }) => quoteName(name)).join(', ');
  return streamParts(
    storage,
    {
      columns,
      lengths,
      place,
      spans: [ids.length > 0 ? ids : [noRow]],
      open: async (connection, span) => openFrom(connection, storage.blobs, await openProjection(storage, projection, { ids: span })),
      select: (from, span) =>
        // Users cannot name columns like this.
        `SELECT ${names} FROM ${from} JOIN (SELECT unnest([${span.join(', ')}]) AS __svc_wanted, unnest(range(${span.length})) AS __svc_place)
         ON ${rowIdColumn} = __svc_wanted ORDER BY __svc_place`,
      arrange: (span) => span,
      divide: (_, counts, places) => divideList(counts, places),
      most: pageLimit,
    },
    format,
    'quick',
  );
}

export function readRowsByIds(storage: TableStorage, projection: Projection, ids: number[]): Promise<PageRow[]> {
  return isWide(projection.columns) ? readWideRows(storage, projection, ids) : fetchRows(storage, projection, ids);
}

async function selectIds({ engine, blobs }: TableStorage, relation: Relation, rest: string): Promise<number[]> {
  return withRelation(engine, blobs, relation, (connection, from) => readIds(connection, `${from} ${rest}`));
}
