import { findBlankFault } from '../names.ts';
import { rowIdColumn } from './table.ts';

/** `.` and `..` are special in URLs, even percent-encoded, so nothing with these names could be requested. */
export function isDots(name: string): boolean {
  return name === '.' || name === '..';
}

/** Why a name is not allowed, or null. */
export function findNameFault(name: string): string | null {
  return findBlankFault(name) ?? (isDots(name) ? 'cannot stand in an address' : null);
}

/** Why a column name is not allowed, or null. */
export function findColumnNameFault(name: string): string | null {
  return findNameFault(name) ?? (name.toLowerCase() === rowIdColumn ? 'is the name of the row identifier' : null);
}
