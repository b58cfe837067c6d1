import { pageOf } from '../../core/paging.ts';
import { rowIdField, type VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { findRowIds } from '../../store/tables/findRowIds.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { type OrderTerm, readRowsAfter, readSortedRows, streamRowsBetween, streamSortedRows } from '../../store/tables/readPage.ts';
import { readFiltered } from './readFiltered.ts';
import { chooseColumns, chooseOrder, decodePosition, positionKey, type RowsPage, type RowsQuery } from './rowsQuery.ts';

/** A page in row order, or sorted. Cells stay text: no value passes through a JavaScript number. */
export async function readRows(services: Services, visible: VisibleTable, query: RowsQuery): Promise<RowsPage> {
  const all = [...visible.columns, rowIdField];
  const projection: Projection = { visible, columns: chooseColumns(all, query.columns) };
  const order = chooseOrder(all, query.sort);
  if (query.filter !== undefined) return readFiltered(services, projection, { ...query, filter: query.filter }, order);
  return order.length === 0 ? readInRowOrder(services, projection, query) : readSorted(services, projection, query, order);
}

async function readInRowOrder(services: Services, projection: Projection, query: RowsQuery): Promise<RowsPage> {
  const { at } = projection.visible;
  let after = decodePosition(at, query) ?? 0;
  if (query.offset) after = ((await findRowIds(services, at, query.offset, 1))[0] ?? at.table.nextRowId) - 1;
  const page = await pageOf(
    query.limit,
    (count) => readRowsAfter(services, projection, count, after),
    (row) => positionKey(at, query, row.id),
  );
  const ids = page.items.map((row) => row.id);
  return {
    columns: projection.columns,
    rows: page.items.map((row) => row.json),
    rowCount: at.rowCount,
    nextCursor: page.nextCursor,
    stream: (format) => streamRowsBetween(services, projection, ids, format),
  };
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
  const ids = page.items.map((row) => row.id);
  return {
    columns: projection.columns,
    rows: page.items.map((row) => row.json),
    rowCount: at.rowCount,
    nextCursor: page.nextCursor,
    stream: (format) => streamSortedRows(services, projection, order, { ids, offset }, format),
  };
}
