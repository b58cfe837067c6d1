import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { ResultRecord } from '../../store/pg/results.ts';
import { rowTypes } from './negotiate.ts';
import { hashContent, type Validator } from './validators.ts';

/** Where batches of rows begin depends on how they were read, so the same rows may have other bytes. */
const batched: ReadonlySet<string> = new Set([rowTypes.arrow, rowTypes.parquet]);

/**
 * Rows of a version, known before they are read. A version never changes; besides it decide what the caller may see, under
 * which names, and what of it is asked for.
 */
export function tagRows(visible: VisibleTable, type: string, query: object): Validator {
  const { at, columns } = visible;
  const seen = columns.map(({ id, name, type: columnType, masked }) => [id, name, columnType, masked]);
  const print = hashContent(JSON.stringify([at.versionUid, at.table.name, seen, type, query]));
  return { version: at.editVersion, print, isWeak: batched.has(type) };
}

/** A result never changes and belongs to one user. */
export function tagResult({ id }: ResultRecord, type: string, page: object): Validator {
  return { print: hashContent(JSON.stringify([id, type, page])), isWeak: batched.has(type) };
}
