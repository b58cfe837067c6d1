import { hasIdForm } from '../ids/ids.ts';
import { findUnseenFault } from '../names.ts';
import { rowIdColumn } from './table.ts';

/** `.` and `..` are special in URLs, even percent-encoded, so nothing with these names could be requested. */
export function isDots(name: string): boolean {
  return name === '.' || name === '..';
}

/** Why a name is not allowed, or null. */
export function findNameFault(name: string): string | null {
  return findUnseenFault(name) ?? (isDots(name) ? 'cannot stand in an address' : null);
}

/** Why a table name is not allowed, or null. Tables are found by name or id, so a name must not look like an id. */
export function findTableNameFault(name: string): string | null {
  return findNameFault(name) ?? (hasIdForm(name, 'tbl') ? 'has the form of a table id' : null);
}

/** Why a column name is not allowed, or null. */
export function findColumnNameFault(name: string): string | null {
  return findNameFault(name) ?? (name.toLowerCase() === rowIdColumn ? 'is the name of the row identifier' : null);
}
