import type { CastRow } from './casting.ts';
import { maxFaults } from './casting.ts';
import { describeUnknownColumn, findColumn } from './findColumn.ts';
import type { ColumnRecord } from './table.ts';
import type { VisibleColumn } from './visibleTable.ts';

/** What is wrong with a name in the key. */
export interface KeyFault {
  /** Position of the name in the key. */
  place: number;
  why: string;
}

/** The columns of a business key, by which rows are matched instead of by row id. */
export function chooseKey(
  visible: VisibleColumn[],
  names: string[],
): { kind: 'key'; columns: VisibleColumn[] } | { kind: 'faulty'; faults: KeyFault[] } | { kind: 'masked'; column: ColumnRecord } {
  const columns: VisibleColumn[] = [];
  const faults: KeyFault[] = [];
  for (const [place, name] of names.entries()) {
    const column = findColumn(visible, name);
    if (!column) faults.push({ place, why: `${name} ${describeUnknownColumn(visible, name)}` });
    else if (column.masked) return { kind: 'masked', column };
    else if (column.type === 'JSON') faults.push({ place, why: `${name} is a JSON column, and one value has many spellings in JSON` });
    else if (columns.includes(column)) faults.push({ place, why: `${name} stands in the key already` });
    else columns.push(column);
  }
  return faults.length > 0 ? { kind: 'faulty', faults } : { kind: 'key', columns };
}

/** What is wrong with the key of a row. */
export interface RowKeyFault {
  /** Position of the row in the request. */
  row: number;
  /** The column, unless it is about the whole key. */
  name: string | null;
  why: string;
}

/** The values of the key, as canonical text, which is the same for the same value. */
const keyOf = ({ cells }: CastRow, columns: ColumnRecord[]): (string | null)[] => columns.map(({ id }) => cells[id] ?? null);

/** The keys of the rows of a request, or why they do not tell the rows apart. */
export function readKeys(
  rows: CastRow[],
  columns: ColumnRecord[],
): { kind: 'keys'; keys: string[][] } | { kind: 'faulty'; faults: RowKeyFault[] } {
  const faults: RowKeyFault[] = [];
  const seen = new Map<string, number>();
  const keys = rows.map((row, place) => {
    const key = keyOf(row, columns);
    if (row.rowId !== null) faults.push({ row: place, name: null, why: 'has a row id, which does not go together with `key`' });
    for (const { id, name } of columns) {
      if (!row.given.includes(id)) faults.push({ row: place, name, why: 'is part of the key and must be given' });
      else if (row.cells[id] == null) faults.push({ row: place, name, why: 'is part of the key and must not be null' });
    }
    const text = JSON.stringify(key);
    const first = seen.get(text);
    if (first === undefined) seen.set(text, place);
    else if (!key.includes(null)) faults.push({ row: place, name: null, why: `has the same key as row ${first} of the request` });
    return key as string[];
  });
  return faults.length > 0 ? { kind: 'faulty', faults: faults.slice(0, maxFaults) } : { kind: 'keys', keys };
}

/** The rows of a table that have the key of a row of the request. */
export interface KeyMatch {
  count: number;
  /** Some of their ids, ascending. */
  rowIds: number[];
}

/** The rows with the ids that their keys mean; those without a match stay new. */
export function matchRows(
  rows: CastRow[],
  matches: ReadonlyMap<number, KeyMatch>,
): { kind: 'matched'; rows: CastRow[] } | { kind: 'faulty'; faults: RowKeyFault[] } {
  const faults = [...matches].flatMap(([row, { count, rowIds }]): RowKeyFault[] => {
    if (count === 1) return [];
    const more = count > rowIds.length ? ` and ${count - rowIds.length} more` : '';
    return [{ row, name: null, why: `its key is not unique: rows ${rowIds.join(', ')}${more} of the table have it` }];
  });
  if (faults.length > 0) return { kind: 'faulty', faults: faults.sort((a, b) => a.row - b.row).slice(0, maxFaults) };
  return { kind: 'matched', rows: rows.map((row, place) => ({ ...row, rowId: matches.get(place)?.rowIds[0] ?? null })) };
}
