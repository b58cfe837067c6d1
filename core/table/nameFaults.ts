import { rowIdColumn } from './table.ts';

/** `.` and `..` mean other places in a URL, percent-encoded too: what has such a name could never be asked for. */
export function isDots(name: string): boolean {
  return name === '.' || name === '..';
}

/** Why nothing can have this name, if so. */
export function findNameFault(name: string): string | null {
  if (name === '') return 'must not be blank';
  return isDots(name) ? 'cannot stand in an address' : null;
}

/** Why no column can have this name, if so. */
export function findColumnNameFault(name: string): string | null {
  return findNameFault(name) ?? (name.toLowerCase() === rowIdColumn ? 'is the name of the row identifier' : null);
}
