import type { Readable } from 'node:stream';
import type { Principal } from '../../core/access/principal.ts';
import { cutPage, decodeCursor } from '../../core/paging.ts';
import type { RowSelection, TableAt } from '../../core/table/table.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { readAll, streamRelation, withRelation } from '../../store/duckdb/engine.ts';
import type { RowFormat } from '../../store/duckdb/formats/streamRows.ts';
import { quoteName, type Relation, type RelationColumn } from '../../store/duckdb/relation.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import type { Services } from '../../store/services.ts';
import { keepNamed } from '../tables/narrowTable.ts';
import { describeRelation, openRelation } from '../tables/openTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { estimateRowBytes } from '../tables/rowBytes.ts';
import { fetchFrom, fetchRows } from './fetchRows.ts';
import { findRowIds } from './findRowIds.ts';
import { lookUpRows, type PageRow } from './lookUpRows.ts';
import { readFiltered } from './readFiltered.ts';
import {
  chooseColumns,
  chooseOrder,
  decodePlace,
  encodePlace,
  type OrderTerm,
  orderBy,
  type RowsPage,
  type RowsQuery,
  requireModest,
} from './rowsQuery.ts';
import { listIdsAfter, readWideRows, streamWideRows } from './wideRows.ts';

/** A page in row order, or as sorted. Cells are texts all the way: no value passes through a JavaScript number. */
export async function readRows(services: Services, principal: Principal, at: TableAt, query: RowsQuery): Promise<RowsPage> {
  const all = await describeRelation(services, at, principal);
  const columns = chooseColumns(all, query.columns);
  const order = chooseOrder(all, query.sort);
  if (query.filter !== undefined) return readFiltered(services, principal, at, { ...query, filter: query.filter }, columns, order);
  return order.length === 0
    ? readInRowOrder(services, principal, at, query, columns)
    : readSorted(services, principal, at, query, columns, order);
}

/** A page in row order. */
async function readInRowOrder(
  services: Services,
  principal: Principal,
  at: TableAt,
  query: RowsQuery,
  columns: RelationColumn[],
): Promise<RowsPage> {
  const key = decodeCursor(query.cursor, ['number']);
  let after = key === null ? 0 : (key[0] as number);
  if (query.offset) after = ((await findRowIds(services, at, query.offset, 1))[0] ?? at.table.nextRowId) - 1;
  const rows = await readAfter(services, principal, at, columns, query.limit, after);
  const page = cutPage(rows, query.limit, (row) => [row.id]);
  const ends: RowSelection = { min: page.items[0]?.id ?? 0, max: page.items.at(-1)?.id ?? 0 };
  return {
    columns,
    rows: page.items.map((row) => row.json),
    rowCount: at.rowCount,
    nextCursor: page.nextCursor,
    stream: (format) =>
      streamIds(
        services,
        at,
        columns,
        page.items.map((row) => row.id),
        async () =>
          streamPage(services, await openPruned(services, principal, at, columns, [], ends), columns, `ORDER BY ${rowIdColumn}`, format),
      ),
  };
}

/** The rows after a place, one more than asked for if there are. */
async function readAfter(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  limit: number,
  after: number,
): Promise<PageRow[]> {
  if (isWide(columns)) return readWideRows(services, principal, at, columns, await listIdsAfter(services, at, after, limit + 1));
  const few = await lookUpRows(services, at, columns, limit, after);
  if (few.rows.length > limit) return few.rows;
  return [...few.rows, ...(await scanRows(services, principal, at, columns, limit - few.rows.length, few.after))];
}

/** Of a wide table only what is asked of it. */
async function openPruned(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  order: OrderTerm[],
  selection: RowSelection | null = null,
): Promise<Relation> {
  const names = [...columns, ...order].map(({ name }) => name);
  return openRelation(services, await openVisibleTable(services, principal, keepNamed(at, names)), selection);
}

/** Rows of many columns by their ids, those of others as the engine streams them. */
function streamIds(
  services: Services,
  at: TableAt,
  columns: RelationColumn[],
  ids: number[],
  byEngine: () => Promise<Readable>,
): Promise<Readable> {
  return isWide(columns) ? streamWideRows(services, at, columns, ids) : byEngine();
}

const firstWindow = 2_000;
const windowBytes = 64 * 1024 * 1024;

/** The same by an engine: a window above the place holds the rows, and only its files are read. Long rows are read in several. */
async function scanRows(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  limit: number,
  start: number,
): Promise<PageRow[]> {
  const last = at.table.nextRowId - 1;
  const rows: PageRow[] = [];
  let after = start;
  let widest = Math.max(1, Math.floor(windowBytes / estimateRowBytes(at)));
  for (let width = Math.max(firstWindow, limit * 2); rows.length <= limit && after < last; width *= 8) {
    const window: RowSelection = { min: after + 1, max: Math.min(last, after + Math.min(width, widest)) };
    const relation = await openPruned(services, principal, at, columns, [], window);
    const found = await fetchFrom(services, relation, columns, `ORDER BY ${rowIdColumn} LIMIT ${limit + 1 - rows.length}`);
    rows.push(...found);
    requireModest(countBytes(rows));
    // By what the columns that were asked for hold; or over a gap.
    widest = found.length === 0 ? widest * 8 : Math.ceil((windowBytes * found.length) / countBytes(found));
    after = window.max;
  }
  return rows;
}

async function readSorted(
  services: Services,
  principal: Principal,
  at: TableAt,
  query: RowsQuery,
  columns: RelationColumn[],
  order: OrderTerm[],
): Promise<RowsPage> {
  const offset = decodePlace(at, query);
  const page = (limit: number) => `${orderBy(order)} LIMIT ${limit} OFFSET ${offset}`;
  const wide = isWide(columns);
  const relation = await openPruned(services, principal, at, wide ? [] : columns, order);
  // Long rows are not taken along while they are sorted.
  const isLong = wide || estimateRowBytes(at) * query.limit > windowBytes;
  const rows = isLong
    ? await fetchByIds(services, principal, at, columns, await fetchIds(services, relation, page(query.limit + 1)))
    : await fetchFrom(services, relation, columns, page(query.limit + 1));
  requireModest(countBytes(rows));
  const shown = rows.slice(0, query.limit);
  return {
    columns,
    rows: shown.map((row) => row.json),
    rowCount: at.rowCount,
    nextCursor: rows.length > query.limit ? encodePlace(at, query, offset + query.limit) : null,
    stream: (format) =>
      streamIds(
        services,
        at,
        columns,
        shown.map((row) => row.id),
        () => streamPage(services, relation, columns, page(query.limit), format),
      ),
  };
}

function streamPage(services: Services, relation: Relation, columns: RelationColumn[], rest: string, format: RowFormat): Promise<Readable> {
  const names = columns.map((column) => quoteName(column.name)).join(', ');
  return streamRelation(services.engine, services.blobs, relation, format, (from) => `SELECT ${names} FROM ${from} ${rest}`);
}

const countBytes = (rows: PageRow[]) => rows.reduce((sum, { json }) => sum + json.length, 0);

async function fetchIds(services: Services, relation: Relation, rest: string): Promise<number[]> {
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const rows = await readAll(connection, `SELECT CAST(${rowIdColumn} AS DOUBLE) FROM ${from} ${rest}`);
    return rows.map(([id]) => id as number);
  });
}

/** Rows by their ids, in that order. */
async function fetchByIds(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  ids: number[],
): Promise<PageRow[]> {
  if (isWide(columns)) return readWideRows(services, principal, at, columns, ids);
  const rows: PageRow[] = [];
  const kept = keepNamed(
    at,
    columns.map(({ name }) => name),
  );
  let size = Math.max(1, Math.floor(windowBytes / estimateRowBytes(at)));
  while (rows.length < ids.length) {
    const part = ids.slice(rows.length, rows.length + size);
    const found = await fetchRows(services, principal, kept, columns, part);
    const byId = new Map(found.map((row) => [row.id, row]));
    rows.push(...part.map((id) => byId.get(id) as PageRow));
    requireModest(countBytes(rows));
    size = Math.ceil((windowBytes * found.length) / countBytes(found));
  }
  return rows;
}
