import { castValue, Refusal, sameValue } from '../../core/cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { GivenRow } from '../../core/cells/givenRow.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import type { LogEntry } from '../../core/table/log.ts';
import type { Cells, ColumnRecord, TableAt } from '../../core/table/table.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import type { PlannedEdit, PreparedEdit } from '../tables/editTable.ts';
import type { TouchedCells } from './checkVersion.ts';
import { readStoredRows } from './readStoredRows.ts';

const mostErrors = 100;

export interface CastRow {
  /** Null: a new row. */
  rowId: number | null;
  cells: Cells;
  /** The ids of the columns that were given. */
  given: number[];
}

type TypedColumn = ColumnRecord & { parsed: ColumnType };

/** What the names of a row mean. Most rows of a request have the names of the row before: it is found out once. */
interface Header {
  names: readonly string[];
  /** By place; null where no cell of this table is meant. */
  columns: (TypedColumn | null)[];
  /** The place of the row's id, or -1. */
  rowId: number;
  given: number[];
  /** A row of these columns. To copy it is ten times as quick as to grow one cell by cell. */
  blank: Cells;
  problems: { name: string; detail: string }[];
}

/** A column by the name that the caller uses; the engine folds case, so does this. */
function headerReader(visible: ColumnRecord[], masked: Set<number>): (names: readonly string[]) => Header {
  const typed = visible.map((column): TypedColumn => ({ ...column, parsed: parseColumnType(column.type) as ColumnType }));
  const byName = new Map(typed.map((column) => [column.name, column]));
  const byFolded = new Map(typed.map((column) => [column.name.toLowerCase(), column]));
  return (names) => {
    const header: Header = { names, columns: [], rowId: names.indexOf(rowIdColumn), given: [], blank: {}, problems: [] };
    const findColumn = (name: string): TypedColumn | null => {
      if (name === rowIdColumn) return null;
      const column = byName.get(name) ?? byFolded.get(name.toLowerCase());
      if (!column) {
        const near = nearestName(name, [...byName.keys()]);
        header.problems.push({ name, detail: near ? `is not a column; did you mean ${near}?` : 'is not a column of this table' });
        return null;
      }
      if (masked.has(column.id)) throw refuseMasked(column);
      if (header.blank[column.id] === undefined) return column;
      header.problems.push({ name, detail: 'names a column that stands in this row already (case does not count)' });
      return null;
    };
    if (names.lastIndexOf(rowIdColumn) > header.rowId) header.problems.push({ name: rowIdColumn, detail: 'stands in this row twice' });
    header.columns = names.map((name) => {
      const column = findColumn(name);
      if (column) {
        header.given.push(column.id);
        header.blank[column.id] = null;
      }
      return column;
    });
    return header;
  };
}

function haveSameNames(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((name, i) => name === b[i]));
}

/**
 * Rows of a request as canonical text by column id. Everything that is wrong is said, each with a pointer to its cell. Up
 * to millions of cells come by here: for one that is right, nothing is made but its text.
 */
export function castRows(visible: ColumnRecord[], masked: Set<number>, rows: readonly object[]): CastRow[] {
  const readHeader = headerReader(visible, masked);
  const errors: ProblemItem[] = [];
  const fail = (i: number, name: string, detail: string) => {
    const pointer = `/rows/${i}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (errors.length < mostErrors) errors.push({ pointer, detail });
  };
  const seen = new Set<number>();
  const readRowId = (i: number, value: unknown): number => {
    if (!Number.isSafeInteger(value) || (value as number) < 1)
      fail(i, rowIdColumn, 'must be a positive whole number; leave it out to insert a row');
    else if (seen.has(value as number)) fail(i, rowIdColumn, 'names a row that stands in this request already');
    else seen.add(value as number);
    return value as number;
  };
  let header = readHeader([]);
  const cast = rows.map((row, i): CastRow => {
    const { names, values } = GivenRow.of(row);
    if (!haveSameNames(names, header.names)) header = readHeader(names);
    for (const { name, detail } of header.problems) fail(i, name, detail);
    const { columns, given } = header;
    const cells = { ...header.blank };
    for (let place = 0; place < columns.length; place += 1) {
      const column = columns[place];
      if (!column) continue;
      const result = castValue(column.parsed, values[place]);
      if (result instanceof Refusal) fail(i, names[place] as string, result.why);
      else cells[column.id] = result;
    }
    return { rowId: header.rowId < 0 ? null : readRowId(i, values[header.rowId]), cells, given };
  });
  if (errors.length === 0) return cast;
  throw new DomainError('validation-failed', describeFirst(errors), 'Correct the cells that `errors` lists; nothing was changed.', {
    errors,
  });
}

function refuseMasked(column: ColumnRecord): DomainError {
  return new DomainError(
    'insufficient-role',
    `The column ${column.name} is masked for you and cannot be written.`,
    'Leave it out, or ask for a role that may see it.',
  );
}

export function touchedCells(rows: CastRow[]): TouchedCells {
  return new Map(rows.flatMap((row) => (row.rowId === null ? [] : [[row.rowId, row.given] as const])));
}

/** A new row as a whole: what was not given is null. */
function fillNulls(at: TableAt, { cells, given }: CastRow): Cells {
  if (given.length === at.columns.length) return cells;
  const whole: Cells = {};
  for (const { id } of at.columns) whole[id] = cells[id] ?? null;
  return whole;
}

/** An upsert on top of a version: the log entries are whole rows after the change, and what changed. */
export async function planUpsert(services: Services, at: TableAt, rows: CastRow[], detail?: PlannedEdit['detail']): Promise<PreparedEdit> {
  const stored = await readStoredRows(
    services,
    at,
    rows.flatMap((row) => row.rowId ?? []),
  );
  const types = new Map(at.columns.map((column) => [column.id, parseColumnType(column.type) as ColumnType]));
  const missing: ProblemItem[] = [];
  const entries: LogEntry[] = [];
  let inserted = 0;
  const rowIds = rows.map((row, i) => {
    if (row.rowId === null) {
      inserted += 1;
      entries.push({ rowId: -inserted, op: 'I', changed: row.given, cells: fillNulls(at, row), before: null });
      return -inserted;
    }
    const old = stored.get(row.rowId);
    if (!old) {
      missing.push({ pointer: `/rows/${i}/${rowIdColumn}`, detail: 'names no row of this table' });
      return row.rowId;
    }
    const changed = row.given.filter((id) => !sameValue(types.get(id) as ColumnType, old[id] ?? null, row.cells[id] ?? null));
    entries.push({
      rowId: row.rowId,
      op: 'U',
      changed,
      cells: { ...old, ...row.cells },
      before: Object.fromEntries(changed.map((id) => [id, old[id] ?? null])),
    });
    return row.rowId;
  });
  if (missing.length > 0)
    throw new DomainError(
      'validation-failed',
      'Some rows do not exist.',
      'Leave __svc_row_id out to insert; read the rows again to get their ids.',
      { errors: missing.slice(0, mostErrors) },
    );
  const plan: PlannedEdit = {
    kind: 'rows.upsert',
    inserted,
    updated: entries.length - inserted,
    deleted: 0,
    entries,
    layers: null,
    schemaChanged: false,
    detail,
  };
  return { at, plan, rowIds };
}
