import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { nearestName } from '../../core/cells/nearestName.ts';
import { asSentence, DomainError, type ProblemItem } from '../../core/errors.ts';
import { decodeCursor, encodeCursor, foreignCursor } from '../../core/paging.ts';
import type { TableVersion } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import type { RowFormat } from '../../store/duckdb/formats/streamRows.ts';
import type { OrderTerm } from '../../store/tables/readPage.ts';

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
  columns: VisibleColumn[];
  /** Each row as the text of a JSON object. */
  rows: string[];
  rowCount: number;
  nextCursor: string | null;
  /** The same rows again, typed, for formats that are not text. */
  stream(format: RowFormat): Promise<Readable>;
}

/** The list that a place belongs to: of one table, in one order, by one filter. */
function printList(at: TableVersion, { sort, filter }: RowsQuery): string {
  return createHash('sha256')
    .update(JSON.stringify([at.table.id, sort ?? [], filter ?? null]))
    .digest('base64url')
    .slice(0, 10);
}

/** The cursor of a sorted or filtered list: the place where its next page begins. */
export function encodePlace(at: TableVersion, query: RowsQuery, place: number): string {
  return encodeCursor([place, at.editVersion, printList(at, query)]);
}

/** Where a sorted or filtered page begins. Its cursor is a place in one version: row ids say nothing there. */
export function decodePlace(at: TableVersion, query: RowsQuery): number {
  const key = decodeCursor(query.cursor, ['number', 'number', 'string']);
  if (key && key[2] !== printList(at, query)) throw foreignCursor();
  if (key && key[1] !== at.editVersion) {
    throw new DomainError(
      'expired',
      'The table has changed since the first page of this list.',
      'Start again without cursor, or read with at_version to page through one version.',
    );
  }
  return key ? (key[0] as number) : (query.offset ?? 0);
}

function refuse(errors: ProblemItem[], suggestedFix = 'GET …/columns lists the columns.'): never {
  throw new DomainError('validation-failed', asSentence(errors[0]?.detail ?? ''), suggestedFix, { errors });
}

/** A value that is not itself a column's name is split at commas. */
function splitNames(values: string[], isName: (text: string) => boolean): string[] {
  return values.flatMap((value) =>
    isName(value)
      ? [value]
      : value
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
  );
}

function findColumn(columns: VisibleColumn[], name: string): VisibleColumn | null {
  return columns.find((column) => column.name.toLowerCase() === name.toLowerCase()) ?? null;
}

function unknownColumn(columns: VisibleColumn[], name: string, parameter: string): ProblemItem {
  const near = nearestName(
    name,
    columns.map((column) => column.name),
  );
  return {
    pointer: `/query/${parameter}`,
    detail: near ? `${name} is not a column; did you mean ${near}?` : `${name} is not a column of this table`,
  };
}

export function chooseColumns(columns: VisibleColumn[], wanted: string[] | undefined): VisibleColumn[] {
  if (!wanted || wanted.length === 0) return columns;
  const names = splitNames(wanted, (text) => findColumn(columns, text) !== null);
  const unknown = names.filter((name) => !findColumn(columns, name)).map((name) => unknownColumn(columns, name, 'columns'));
  if (unknown.length > 0) refuse(unknown);
  const chosen = [...new Set(names.map((name) => findColumn(columns, name) as VisibleColumn))];
  const rowId = columns.at(-1) as VisibleColumn;
  return chosen.includes(rowId) ? chosen : [...chosen, rowId];
}

/** `列` or `列:desc`. A masked column sorts as the NULLs it reads as. */
export function chooseOrder(columns: VisibleColumn[], wanted: string[] | undefined): OrderTerm[] {
  const isTerm = (text: string) => (findColumn(columns, text) ?? findColumn(columns, text.replace(/:(asc|desc)$/i, ''))) !== null;
  return splitNames(wanted ?? [], isTerm).map((term) => {
    const name = findColumn(columns, term) ? term : term.replace(/:(asc|desc)$/i, '');
    const column = findColumn(columns, name);
    if (!column)
      return refuse([unknownColumn(columns, name, 'sort')], 'Write sort=column or sort=column:desc; GET …/columns lists the columns.');
    return { name: column.name, descending: /:desc$/i.test(term) && name !== term };
  });
}
