import type { Readable } from 'node:stream';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { cutPage, decodeCursor } from '../../core/paging.ts';
import { rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import { readAll, streamRelation, withRelation } from '../../store/duckdb/engine.ts';
import type { RowFormat } from '../../store/duckdb/formats/streamRows.ts';
import { rowJson } from '../../store/duckdb/json.ts';
import { quoteName, type Relation, type RelationColumn } from '../../store/duckdb/relation.ts';
import type { RowSelection } from '../../store/pg/rowLog.ts';
import type { TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { describeRelation, openRelation } from '../tables/openTable.ts';
import { estimateRowBytes } from '../tables/rowBytes.ts';
import { findRowIds } from './findRowIds.ts';
import { lookUpRows, type PageRow } from './lookUpRows.ts';
import { readFiltered } from './readFiltered.ts';
import {
  chooseColumns,
  chooseOrder,
  decodePlace,
  encodePlace,
  mostPageBytes,
  type RowsPage,
  type RowsQuery,
  smallerPage,
} from './rowsQuery.ts';

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
  const few = await lookUpRows(services, at, columns, query.limit, after);
  const rows =
    few.rows.length > query.limit
      ? few.rows
      : [...few.rows, ...(await scanRows(services, principal, at, columns, query.limit - few.rows.length, few.after))];
  const page = cutPage(rows, query.limit, (row) => [row.id]);
  const ends: RowSelection = { min: page.items[0]?.id ?? 0, max: page.items.at(-1)?.id ?? 0 };
  return {
    columns,
    rows: page.items.map((row) => row.json),
    rowCount: at.rowCount,
    nextCursor: page.nextCursor,
    stream: async (format) =>
      streamPage(services, await openRelation(services, at, principal, ends), columns, `ORDER BY ${rowIdColumn}`, format),
  };
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
    const relation = await openRelation(services, at, principal, window);
    const found = await fetchRows(services, relation, columns, `ORDER BY ${rowIdColumn} LIMIT ${limit + 1 - rows.length}`);
    rows.push(...found);
    requireModest(rows);
    // By what the columns that were asked for hold; or over a gap.
    widest = found.length === 0 ? widest * 8 : Math.ceil((windowBytes * found.length) / countBytes(found));
    after = window.max;
  }
  return rows;
}

/** Among equal values row order decides, so that a page's end is a definite place. */
async function readSorted(
  services: Services,
  principal: Principal,
  at: TableAt,
  query: RowsQuery,
  columns: RelationColumn[],
  order: string[],
): Promise<RowsPage> {
  const offset = decodePlace(at, query);
  const relation = await openRelation(services, at, principal);
  const page = `ORDER BY ${[...order, rowIdColumn].join(', ')} LIMIT ${query.limit + 1} OFFSET ${offset}`;
  // Long rows are not taken along while they are sorted.
  const isLong = estimateRowBytes(at) * query.limit > windowBytes;
  const rows = isLong
    ? await fetchInParts(services, principal, at, columns, await fetchIds(services, relation, page))
    : await fetchRows(services, relation, columns, page);
  requireModest(rows);
  return {
    columns,
    rows: rows.slice(0, query.limit).map((row) => row.json),
    rowCount: at.rowCount,
    nextCursor: rows.length > query.limit ? encodePlace(at, query, offset + query.limit) : null,
    stream: (format) =>
      streamPage(
        services,
        relation,
        columns,
        `ORDER BY ${[...order, rowIdColumn].join(', ')} LIMIT ${query.limit} OFFSET ${offset}`,
        format,
      ),
  };
}

function streamPage(services: Services, relation: Relation, columns: RelationColumn[], rest: string, format: RowFormat): Promise<Readable> {
  const names = columns.map((column) => quoteName(column.name)).join(', ');
  return streamRelation(services.engine, services.blobs, relation, format, (from) => `SELECT ${names} FROM ${from} ${rest}`);
}

const countBytes = (rows: PageRow[]) => rows.reduce((sum, { json }) => sum + json.length, 0);

function requireModest(rows: PageRow[]): void {
  if (countBytes(rows) <= mostPageBytes) return;
  throw new DomainError('query-too-large', `The page would hold more than ${mostPageBytes / 1024 ** 2} MiB.`, smallerPage);
}

async function fetchIds(services: Services, relation: Relation, rest: string): Promise<number[]> {
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const rows = await readAll(connection, `SELECT CAST(${rowIdColumn} AS DOUBLE) FROM ${from} ${rest}`);
    return rows.map(([id]) => id as number);
  });
}

/** Rows by their ids, in that order. */
async function fetchInParts(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  ids: number[],
): Promise<PageRow[]> {
  const rows: PageRow[] = [];
  let size = Math.max(1, Math.floor(windowBytes / estimateRowBytes(at)));
  while (rows.length < ids.length) {
    const part = ids.slice(rows.length, rows.length + size);
    const found = await fetchRows(services, await openRelation(services, at, principal, { ids: part }), columns, '');
    const byId = new Map(found.map((row) => [row.id, row]));
    rows.push(...part.map((id) => byId.get(id) as PageRow));
    requireModest(rows);
    size = Math.ceil((windowBytes * found.length) / countBytes(found));
  }
  return rows;
}

async function fetchRows(services: Services, relation: Relation, columns: RelationColumn[], rest: string): Promise<PageRow[]> {
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const reader = await connection.runAndReadAll(
      `SELECT CAST(${rowIdColumn} AS DOUBLE), CAST(${rowJson(columns)} AS VARCHAR) FROM (SELECT * FROM ${from} ${rest})`,
    );
    return reader.getRows().map(([id, json]) => ({ id: id as number, json: json as string }));
  });
}
