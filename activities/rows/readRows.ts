import { type Page, pageOf } from '../../core/paging.ts';
import type { TableVersion } from '../../core/table/table.ts';
import { rowIdField, type VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import type { PageRow } from '../../store/tables/fetchRows.ts';
import { findRowIds, listIdsAfter } from '../../store/tables/findRowIds.ts';
import { isFew } from '../../store/tables/lookUpRows.ts';
import type { Projection } from '../../store/tables/projection.ts';
import {
  listSortedIds,
  type OrderTerm,
  readRowsAfter,
  readSortedRows,
  sortsLongValues,
  streamRowsBetween,
  streamRowsByIds,
} from '../../store/tables/readPage.ts';
import { readFiltered } from './readFiltered.ts';
import { chooseColumns, chooseOrder, decodePosition, type OpenedPage, positionKey, type RowsPage, type RowsQuery } from './rowsQuery.ts';

export { pageLimit } from '../../store/tables/pageSize.ts';

/** A page in row order, or sorted. Cells stay text: no value passes through a JavaScript number. */
export async function readRows(services: Services, visible: VisibleTable, query: Omit<RowsQuery, 'filter'>): Promise<RowsPage> {
  const all = [...visible.columns, rowIdField];
  const projection: Projection = { visible, columns: chooseColumns(all, query.columns) };
  const order = chooseOrder(all, query.sort);
  return order.length === 0 ? readInRowOrder(services, projection, query) : readSorted(services, projection, query, order);
}

/** The same, filtered or not, but many rows are not held in memory. */
export async function openRows(services: Services, visible: VisibleTable, query: RowsQuery): Promise<OpenedPage> {
  const all = [...visible.columns, rowIdField];
  const projection: Projection = { visible, columns: chooseColumns(all, query.columns) };
  const order = chooseOrder(all, query.sort);
  if (query.filter !== undefined) return readFiltered(services, projection, query, query.filter, order);
  const sorted = order.length > 0 ? (decodePosition(visible.at, query) ?? query.offset ?? 0) + query.limit : 0;
  if (sortsLongValues(projection, sorted)) return readFiltered(services, projection, query, 'true', order);
  if (isFew(projection, query.limit + 1)) return readRows(services, visible, query);
  const { columns } = projection;
  const { at } = visible;
  const { limit } = query;
  const common = { columns, rows: null, rowCount: at.rowCount };
  if (order.length === 0) {
    const after = await findStart(services, at, query);
    const { items, nextCursor } = await pageOf(
      limit,
      (count) => listIdsAfter(services, at, after, count),
      (id) => positionKey(at, query, id),
    );
    return { ...common, nextCursor, stream: (format) => streamRowsBetween(services, projection, items, format) };
  }
  const offset = decodePosition(at, query) ?? query.offset ?? 0;
  const { items, nextCursor } = await pageOf(
    limit,
    (count) => listSortedIds(services, projection, order, { count, offset }),
    () => positionKey(at, query, offset + limit),
  );
  return { ...common, nextCursor, stream: (format) => streamRowsByIds(services, projection, items, format) };
}

/** The row id after which a page in row order begins. */
async function findStart(services: Services, at: TableVersion, query: RowsQuery): Promise<number> {
  const after = decodePosition(at, query) ?? 0;
  if (!query.offset) return after;
  return ((await findRowIds(services, at, query.offset, 1))[0] ?? at.table.nextRowId) - 1;
}

async function readInRowOrder(services: Services, projection: Projection, query: RowsQuery): Promise<RowsPage> {
  const { at } = projection.visible;
  const after = await findStart(services, at, query);
  const page = await pageOf(
    query.limit,
    (count) => readRowsAfter(services, projection, count, after),
    (row) => positionKey(at, query, row.id),
  );
  return describePage(services, projection, page, streamRowsBetween);
}

async function readSorted(services: Services, projection: Projection, query: RowsQuery, order: OrderTerm[]): Promise<RowsPage> {
  const { at } = projection.visible;
  const { limit } = query;
  const offset = decodePosition(at, query) ?? query.offset ?? 0;
  const page = await pageOf(
    limit,
    (count) => readSortedRows(services, projection, order, { count, offset }),
    () => positionKey(at, query, offset + limit),
  );
  return describePage(services, projection, page, streamRowsByIds);
}

function describePage(
  services: Services,
  projection: Projection,
  { items, nextCursor }: Page<PageRow>,
  streamRows: typeof streamRowsByIds,
): RowsPage {
  const ids = items.map((row) => row.id);
  return {
    columns: projection.columns,
    rows: items.map((row) => row.json),
    rowCount: projection.visible.at.rowCount,
    nextCursor,
    stream: (format) => streamRows(services, projection, ids, format),
  };
}
