import type { Readable } from 'node:stream';
import type { Principal } from '../../core/access/principal.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, type ProblemItem } from '../../core/errors.ts';
import { cutPage, decodeCursor } from '../../core/paging.ts';
import { type RowSelection, rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import { streamRelation, withRelation } from '../../store/duckdb/engine.ts';
import type { RowFormat } from '../../store/duckdb/formats/streamRows.ts';
import { rowJson } from '../../store/duckdb/json.ts';
import { quoteName, type Relation, type RelationColumn } from '../../store/duckdb/relation.ts';
import type { TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openRelation } from '../tables/openTable.ts';
import { readFiltered } from './readFiltered.ts';

export interface RowsQuery {
  limit: number;
  cursor?: string;
  offset?: number;
  columns?: string[];
  sort?: string[];
  /** A stranger's SQL: a boolean expression over the table. */
  filter?: string;
}

export interface RowsPage {
  columns: RelationColumn[];
  /** Each row as the text of a JSON object. */
  rows: string[];
  rowCount: number;
  nextCursor: string | null;
  /** The same rows again, typed, for formats that are not text. */
  stream(format: RowFormat): Promise<Readable>;
}

/** A page in row order, or as sorted. Rows are written as JSON by the engine: no value passes through a JavaScript number. */
export async function readRows(services: Services, principal: Principal, at: TableAt, query: RowsQuery): Promise<RowsPage> {
  const whole = await openRelation(services, at, principal, { ids: [] });
  const columns = chooseColumns(whole, query.columns);
  const order = chooseOrder(whole, query.sort);
  if (query.filter !== undefined) return readFiltered(services, principal, at, { ...query, filter: query.filter }, columns, order);
  return order.length === 0
    ? readInRowOrder(services, principal, at, query, columns)
    : readSorted(services, principal, at, query, columns, order);
}

const firstWindow = 2_000;

/** Row ids are dense or nearly so: a window above the cursor holds the page, and only its files are read. */
async function readInRowOrder(
  services: Services,
  principal: Principal,
  at: TableAt,
  query: RowsQuery,
  columns: RelationColumn[],
): Promise<RowsPage> {
  const key = decodeCursor(query.cursor, ['number']);
  let after = key === null ? 0 : (key[0] as number);
  if (query.offset) after = (await findRowAtOffset(services, principal, at, query.offset)) - 1;
  const last = at.table.nextRowId - 1;
  const rows: { id: number; json: string }[] = [];
  for (let width = Math.max(firstWindow, query.limit * 2); rows.length <= query.limit && after < last; width *= 8) {
    const window: RowSelection = { min: after + 1, max: Math.min(last, after + width) };
    const relation = await openRelation(services, at, principal, window);
    rows.push(...(await fetchRows(services, relation, columns, `ORDER BY ${rowIdColumn} LIMIT ${query.limit + 1 - rows.length}`)));
    after = window.max;
  }
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

/** First the ids alone, then the rows: the other columns of what is skipped are never read. */
async function findRowAtOffset(services: Services, principal: Principal, at: TableAt, offset: number): Promise<number> {
  if (offset >= at.rowCount) return at.table.nextRowId;
  const relation = await openRelation(services, at, principal);
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const reader = await connection.runAndReadAll(
      `SELECT CAST(${rowIdColumn} AS VARCHAR) FROM ${from} ORDER BY ${rowIdColumn} LIMIT 1 OFFSET ${offset}`,
    );
    return Number(reader.getRows()[0]?.[0] ?? at.table.nextRowId);
  });
}

/** Where a sorted or filtered page begins. Its cursor is a place in one version: row ids say nothing there. */
export function decodePlace(at: TableAt, query: RowsQuery): number {
  const key = decodeCursor(query.cursor, ['number', 'number']);
  if (key && key[1] !== at.editVersion) {
    throw new DomainError(
      'expired',
      'The table has changed since the first page of this list.',
      'Start again without cursor, or read with at_version to page through one version.',
    );
  }
  return key ? (key[0] as number) : (query.offset ?? 0);
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
  const rows = await fetchRows(
    services,
    relation,
    columns,
    `ORDER BY ${[...order, rowIdColumn].join(', ')} LIMIT ${query.limit + 1} OFFSET ${offset}`,
  );
  const page = cutPage(rows, query.limit, () => [offset + query.limit, at.editVersion]);
  return {
    columns,
    rows: page.items.map((row) => row.json),
    rowCount: at.rowCount,
    nextCursor: page.nextCursor,
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

async function fetchRows(
  services: Services,
  relation: Relation,
  columns: RelationColumn[],
  rest: string,
): Promise<{ id: number; json: string }[]> {
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const reader = await connection.runAndReadAll(
      `SELECT CAST(${rowIdColumn} AS DOUBLE), CAST(${rowJson(columns)} AS VARCHAR) FROM (SELECT * FROM ${from} ${rest})`,
    );
    return reader.getRows().map(([id, json]) => ({ id: id as number, json: json as string }));
  });
}

function refuse(errors: ProblemItem[]): never {
  throw new DomainError('validation-failed', `${errors[0]?.detail}.`, 'GET …/columns lists the columns.', { errors });
}

/** A value that is not itself a column's name is split at commas. */
export function splitNames(values: string[], isName: (text: string) => boolean): string[] {
  return values.flatMap((value) =>
    isName(value)
      ? [value]
      : value
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
  );
}

function findColumn(relation: Relation, name: string): RelationColumn | null {
  return relation.columns.find((column) => column.name.toLowerCase() === name.toLowerCase()) ?? null;
}

function unknownColumn(relation: Relation, name: string, parameter: string): ProblemItem {
  const near = nearestName(
    name,
    relation.columns.map((column) => column.name),
  );
  return {
    pointer: `/query/${parameter}`,
    detail: near ? `${name} is not a column; did you mean ${near}?` : `${name} is not a column of this table`,
  };
}

export function chooseColumns(relation: Relation, wanted: string[] | undefined): RelationColumn[] {
  if (!wanted || wanted.length === 0) return relation.columns;
  const names = splitNames(wanted, (text) => findColumn(relation, text) !== null);
  const unknown = names.filter((name) => !findColumn(relation, name)).map((name) => unknownColumn(relation, name, 'columns'));
  if (unknown.length > 0) refuse(unknown);
  const chosen = [...new Set(names.map((name) => findColumn(relation, name) as RelationColumn))];
  const rowId = relation.columns.at(-1) as RelationColumn;
  return chosen.includes(rowId) ? chosen : [...chosen, rowId];
}

/** `列:desc` as SQL. A masked column sorts as the NULLs it reads as. */
function chooseOrder(relation: Relation, wanted: string[] | undefined): string[] {
  const isTerm = (text: string) => (findColumn(relation, text) ?? findColumn(relation, text.replace(/:(asc|desc)$/i, ''))) !== null;
  return splitNames(wanted ?? [], isTerm).map((term) => {
    const name = findColumn(relation, term) ? term : term.replace(/:(asc|desc)$/i, '');
    const column = findColumn(relation, name);
    if (!column) return refuse([unknownColumn(relation, name, 'sort')]);
    return `${quoteName(column.name)} ${/:desc$/i.test(term) && name !== term ? 'DESC' : 'ASC'} NULLS LAST`;
  });
}
