import { castValue, Refusal } from '../cells/castValue.ts';
import { GivenRow } from '../cells/givenRow.ts';
import { type Casting, type CastRow, maxFaults, type TypedColumn, typeColumns } from './casting.ts';
import { describeUnknownColumn } from './findColumn.ts';
import { type Cells, type ColumnRecord, rowIdColumn } from './table.ts';
import type { VisibleColumn } from './visibleTable.ts';

/** What is wrong with a cell of a request. */
export interface CellFault {
  /** Position of the row in the request. */
  row: number;
  /** The column name as the caller wrote it. */
  name: string;
  why: string;
}

/** The columns that the names of a row mean. Reused for the next row, as most rows of a request have the same names. */
interface Header {
  names: readonly string[];
  /** By position in the row; null for the row id and for unknown names. */
  columns: (TypedColumn | null)[];
  /** Position of the row id, or -1. */
  rowId: number;
  given: number[];
  /** A row of nulls in these columns. Copying it is ten times as fast as adding cells one by one. */
  blank: Cells;
  faults: { name: string; why: string }[];
  /** The first masked column, which the caller may not write. */
  masked: ColumnRecord | null;
}

/** Finds columns by name, ignoring case as DuckDB does. */
function headerReader(visible: VisibleColumn[]): (names: readonly string[]) => Header {
  const typed = typeColumns(visible);
  const byName = new Map(typed.map((column) => [column.name, column]));
  const byFolded = new Map(typed.map((column) => [column.name.toLowerCase(), column]));
  return (names) => {
    const header: Header = { names, columns: [], rowId: names.indexOf(rowIdColumn), given: [], blank: {}, faults: [], masked: null };
    const findColumn = (name: string): TypedColumn | null => {
      if (name === rowIdColumn) return null;
      const column = byName.get(name) ?? byFolded.get(name.toLowerCase());
      if (!column) {
        header.faults.push({ name, why: describeUnknownColumn(typed, name) });
        return null;
      }
      if (column.masked) header.masked ??= column;
      if (header.blank[column.id] === undefined) return column;
      header.faults.push({ name, why: 'names a column that stands in this row already (case does not count)' });
      return null;
    };
    if (names.lastIndexOf(rowIdColumn) > header.rowId) header.faults.push({ name: rowIdColumn, why: 'stands in this row twice' });
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
 * Turns the rows of a request into canonical text by column id. Runs over millions of cells, so a valid cell allocates only its
 * text.
 */
export function castRows(visible: VisibleColumn[], rows: readonly object[]): Casting<CellFault> {
  const readHeader = headerReader(visible);
  const faults: CellFault[] = [];
  const fail = (row: number, name: string, why: string) => {
    if (faults.length < maxFaults) faults.push({ row, name, why });
  };
  const seen = new Set<number>();
  const readRowId = (row: number, value: unknown): number => {
    if (!Number.isSafeInteger(value) || (value as number) < 1)
      fail(row, rowIdColumn, 'must be a positive whole number; leave it out to insert a row');
    else if (seen.has(value as number)) fail(row, rowIdColumn, 'names a row that stands in this request already');
    else seen.add(value as number);
    return value as number;
  };
  const cast: CastRow[] = [];
  let header = readHeader([]);
  for (let row = 0; row < rows.length; row += 1) {
    const { names, values } = GivenRow.of(rows[row] as object);
    if (!haveSameNames(names, header.names)) header = readHeader(names);
    if (header.masked) return { kind: 'masked', column: header.masked };
    for (const { name, why } of header.faults) fail(row, name, why);
    const { columns, given } = header;
    const cells = { ...header.blank };
    for (let place = 0; place < columns.length; place += 1) {
      const column = columns[place];
      if (!column) continue;
      const result = castValue(column.parsed, values[place]);
      if (result instanceof Refusal) fail(row, names[place] as string, result.why);
      else cells[column.id] = result;
    }
    cast.push({ rowId: header.rowId < 0 ? null : readRowId(row, values[header.rowId]), cells, given });
  }
  return faults.length > 0 ? { kind: 'faulty', faults } : { kind: 'cast', rows: cast };
}
