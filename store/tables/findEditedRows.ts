import { pairColumns } from '../../core/table/pairColumns.ts';
import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { cellText } from '../duckdb/cellText.ts';
import { readAll, withRelations } from '../duckdb/engine.ts';
import { quoteName, quoteText } from '../duckdb/relation.ts';
import { openRelation } from './openRelation.ts';
import type { TableStorage } from './tableStorage.ts';

/**
 * Ids of the rows in which two versions differ, or that only one has; at most `most`. Columns that were dropped do not count; of
 * those that were added only values that are not their default.
 */
export async function findEditedRows(storage: TableStorage, from: TableAt, to: TableAt, most: number): Promise<number[]> {
  const sides = await Promise.all([from, to].map((at) => openRelation(storage, seeEverything(at))));
  const different = pairColumns(from.columns, to.columns).flatMap(({ left, right }) => {
    if (!right) return [];
    const now = `r.${quoteName(right.name)}`;
    if (left?.type === right.type) return [`l.${quoteName(left.name)} IS DISTINCT FROM ${now}`];
    const absent = right.defaultText === null ? 'NULL' : quoteText(right.defaultText);
    const was = left ? cellText(`l.${quoteName(left.name)}`, left.type) : absent;
    return [`${was} IS DISTINCT FROM ${cellText(now, right.type)}`];
  });
  const id = (side: string) => `${side}.${rowIdColumn}`;
  return withRelations(storage.engine, storage.blobs, sides, async (connection, [l, r]) => {
    const found = await readAll(
      connection,
      `SELECT CAST(coalesce(${id('l')}, ${id('r')}) AS DOUBLE) FROM ${l} l FULL JOIN ${r} r ON ${id('l')} = ${id('r')}
       WHERE ${[`${id('l')} IS NULL`, `${id('r')} IS NULL`, ...different].join(' OR ')} LIMIT ${most}`,
    );
    return found.map(([rowId]) => rowId as number);
  });
}
