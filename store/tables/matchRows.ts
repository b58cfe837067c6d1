import type { SharedColumn } from '../../core/merge/chooseKey.ts';
import { type ColumnRecord, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { readAll, withRelations } from '../duckdb/engine.ts';
import { quoteName } from '../duckdb/relation.ts';
import { openRelation, queryTable } from './openRelation.ts';
import type { TableStorage } from './tableStorage.ts';

/** Whether columns tell all rows of a version apart and have a value in each. */
export async function isKey(storage: TableStorage, at: TableAt, columns: ColumnRecord[]): Promise<boolean> {
  const names = columns.map(({ name }) => quoteName(name));
  const tests = [`count(*) = count(DISTINCT (${names.join(', ')}))`, ...names.map((name) => `count(*) = count(${name})`)];
  const [[answer] = []] = await queryTable(storage, seeEverything({ ...at, columns }), null, (connection, from) =>
    readAll(connection, `SELECT ${tests.join(' AND ')} FROM ${from}`),
  );
  return answer === true;
}

/** Enough to tell rows of a wide table apart. */
const mostCompared = 200;

/**
 * Finds rows again in another content of a table, as far as they can be told apart: rows of the same content in their order, and,
 * where as many rows lie between two of these before and after, those by their places.
 */
export async function alignRows(
  storage: TableStorage,
  base: TableAt,
  next: TableAt,
  columns: SharedColumn[],
  rowIds: number[],
): Promise<Map<number, number>> {
  const shared = columns.slice(0, mostCompared);
  if (shared.length === 0 || rowIds.length === 0) return new Map();
  const sides = await Promise.all([
    openRelation(storage, seeEverything({ ...base, columns: shared.map((column) => column.base) })),
    openRelation(storage, seeEverything({ ...next, columns: shared.map((column) => column.next) })),
  ]);
  const hashed = (from: string | undefined, side: 'base' | 'next') =>
    `SELECT id, content, row_number() OVER (PARTITION BY content ORDER BY id) AS nth
     FROM (SELECT ${rowIdColumn} AS id, hash(${shared.map((column) => quoteName(column[side].name)).join(', ')}) AS content FROM ${from})`;
  // Rows without a twin, numbered behind the last row before them that has one.
  const left = (rows: string, own: string, twin: string) =>
    `SELECT id, gap, row_number() OVER (PARTITION BY gap ORDER BY id) AS nth, count(*) OVER (PARTITION BY gap) AS size FROM (
       SELECT id, ${own} IS NULL AS alone, coalesce(last_value(${twin} IGNORE NULLS) OVER (ORDER BY id), 0) AS gap
       FROM ${rows} LEFT JOIN same ON id = ${own}) WHERE alone`;
  return withRelations(storage.engine, storage.blobs, sides, async (connection, [b, n]) => {
    const found = await readAll(
      connection,
      `WITH b AS MATERIALIZED (${hashed(b, 'base')}), n AS MATERIALIZED (${hashed(n, 'next')}),
         same AS MATERIALIZED (SELECT b.id AS base, n.id AS next FROM b JOIN n USING (content, nth)),
         pairs AS (SELECT base, next FROM same UNION ALL
           SELECT l.id, r.id FROM (${left('b', 'base', 'next')}) l JOIN (${left('n', 'next', 'next')}) r USING (gap, nth, size))
       SELECT CAST(base AS DOUBLE), CAST(next AS DOUBLE) FROM pairs SEMI JOIN (SELECT unnest([${rowIds.join(', ')}]::BIGINT[]) AS base) USING (base)`,
    );
    return new Map(found.map(([from, to]) => [from as number, to as number]));
  });
}
