import { castValue, Refusal } from '../cells/castValue.ts';
import { GivenRow } from '../cells/givenRow.ts';
import { nearestName } from '../cells/nearestName.ts';
import { type Casting, type CastRow, mostFaults, type TypedColumn, typeColumns } from './casting.ts';
import { type Cells, type ColumnRecord, rowIdColumn } from './table.ts';
import type { VisibleColumn } from './visibleTable.ts';

/** What is wrong with a cell of a request. */
export interface CellFault {
  /** Its row's place in the request. */
  row: number;
  /** As the caller spells it. */
  name: string;
  why: string;
}

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
  faults: { name: string; why: string }[];
  /** The first column that the caller may not write. */
  masked: ColumnRecord | null;
}

/** Finds a column by the name that the caller uses; the engine folds case, so does this. */
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
        const near = nearestName(name, [...byName.keys()]);
        header.faults.push({ name, why: near ? `is not a column; did you mean ${near}?` : 'is not a column of this table' });
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
 * Rows of a request as canonical text by column id. Up to millions of cells come by here: for one that is right, nothing
 * is made but its text.
 */
export function castRows(visible: VisibleColumn[], rows: readonly object[]): Casting<CellFault> {
  const readHeader = headerReader(visible);
  const faults: CellFault[] = [];
  const fail = (row: number, name: string, why: string) => {
    if (faults.length < mostFaults) faults.push({ row, name, why });
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
