import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { asSentence, DomainError, type ProblemItem } from '../../core/errors.ts';
import { decodeCursor, foreignCursor } from '../../core/paging.ts';
import { describeUnknownColumn, findColumn } from '../../core/table/findColumn.ts';
import type { TableVersion } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import type { DataFormat } from '../../store/duckdb/formats/streamRows.ts';
import type { OrderTerm } from '../../store/tables/readPage.ts';

export interface RowsQuery {
  /** Who asks: a filter takes their share of the query processes. */
  userId: string;
  limit: number;
  cursor?: string;
  offset?: number;
  columns?: string[];
  sort?: string[];
  /** Untrusted SQL: a boolean expression over the table. */
  filter?: string;
}

export interface RowsPage {
  columns: VisibleColumn[];
  /** Each row as a JSON object in text form. */
  rows: string[];
  rowCount: number;
  nextCursor: string | null;
  /** The same rows as a stream of typed values. */
  stream(format: DataFormat): Promise<Readable>;
}

/** A page whose rows are at hand only if they are few; the others are read while they are sent. */
export type OpenedPage = Omit<RowsPage, 'rows'> & { rows: string[] | null };

/** Identifies a list: one version of a table, one order, one filter. A number can name two versions after a crash, an id cannot. */
function hashList(at: TableVersion, { sort, filter }: RowsQuery): string {
  return createHash('sha256')
    .update(JSON.stringify([at.table.id, at.versionUid, sort ?? [], filter ?? null]))
    .digest('base64url')
    .slice(0, 10);
}

/**
 * What a cursor of rows holds: where the next page begins, and the version that the first page was of. The position is a row id
 * in row order, a count of rows in a sorted or filtered list.
 */
export function positionKey(at: TableVersion, query: RowsQuery, position: number): [number, number, string] {
  return [position, at.editVersion, hashList(at, query)];
}

const decodeKey = (cursor: string | undefined) => decodeCursor(cursor, ['number', 'number', 'string']);

/** The version that a list began with; null without a cursor. All its pages are of that version, whatever is written meanwhile. */
export function pinnedVersion(cursor: string | undefined): number | null {
  return (decodeKey(cursor)?.[1] as number | undefined) ?? null;
}

/** The position in a cursor; null without one. Refuses a cursor of another list. */
export function decodePosition(at: TableVersion, query: RowsQuery): number | null {
  const key = decodeKey(query.cursor);
  if (key === null) return null;
  const [position, editVersion, hash] = key as [number, number, string];
  if (editVersion !== at.editVersion || hash !== hashList(at, query) || position < 0) throw foreignCursor();
  return position;
}

function refuse(errors: ProblemItem[], suggestedFix = 'GET …/columns lists the columns.'): never {
  throw new DomainError('validation-failed', asSentence(errors[0]?.detail ?? ''), suggestedFix, { errors });
}

/** Splits a value at commas unless it is a column name itself. */
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

function unknownColumn(columns: VisibleColumn[], name: string, parameter: string): ProblemItem {
  return { pointer: `/query/${parameter}`, detail: `${name} ${describeUnknownColumn(columns, name)}` };
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

/** Parses `列` and `列:desc`. A masked column sorts as NULLs. */
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
