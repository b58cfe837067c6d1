/** Names of tables and columns: cleaned, cut, and unique. */

import { hasIdForm } from '../../ids/ids.ts';
import { dropUnseen } from '../../names.ts';
import type { Naming } from './naming.ts';

export const MAX_NAME_LENGTH = 200;

/** In Unicode form NFC: macOS names files in decomposed form, which would not match what people type. */
export function cleanName(name: string): string {
  return cutName(dropUnseen(name.normalize('NFC').replace(/\s+/g, ' ')).toWellFormed(), MAX_NAME_LENGTH);
}

/** Does not split a surrogate pair or leave a blank at the end. */
function cutName(name: string, length: number): string {
  if (name.length <= length) return name;
  const isSplit = /[\ud800-\udbff]/.test(name[length - 1] ?? '');
  return name.slice(0, isSplit ? length - 1 : length).trimEnd();
}

/** `.` and `..` are special in URLs, so tables with these names could not be requested. */
export function isUsableName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}

/**
 * Case folding that treats as equal whatever either JavaScript or the database does. They differ: JavaScript folds İ to two
 * characters and a final sigma to ς. Treating too many names as equal only adds a suffix; too few would break an insert.
 */
const foldWidely = (name: string) => name.toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ');

/** Gives each name out once, ignoring case as SQL does; repeats get `_2`, `_3`. */
export class NameRegistry {
  private readonly taken = new Set<string>();

  /** Marks a name as in use. */
  take(name: string): void {
    this.taken.add(foldWidely(name));
  }

  /** Marks a name as free again. */
  free(name: string): void {
    this.taken.delete(foldWidely(name));
  }

  claim(wanted: string, fallback: string): string {
    const base = [wanted, fallback].map(cleanName).find(isUsableName) ?? '表';
    // Tables are found by name or id.
    let name = hasIdForm(base, 'tbl') ? suffixName(base, 1) : base;
    for (let n = 2; this.taken.has(foldWidely(name)); n += 1) name = suffixName(base, n);
    this.taken.add(foldWidely(name));
    return name;
  }
}

/** `name_2`, within the length a name may have. */
export function suffixName(base: string, n: number): string {
  return addSuffix(base, `_${n}`);
}

export function addSuffix(base: string, suffix: string): string {
  return `${cutName(base, MAX_NAME_LENGTH - suffix.length)}${suffix}`;
}

/** What the raw table of a sheet is called when structured tables have taken its place. */
export function nameArchivedRaw(name: string, naming: Naming): string {
  return addSuffix(name, naming.archivedRaw);
}

/** A file name without folder and extension, as a table name. */
export function baseOfFile(fileName: string): string {
  const last = fileName.replace(/\\/g, '/').split('/').at(-1) ?? '';
  const base = last.replace(/\.(?:[A-Za-z0-9]{1,5}|arrows|feather|ndjson|parquet)$/i, '');
  const name = cleanName(base);
  return isUsableName(name) ? name : '表';
}
