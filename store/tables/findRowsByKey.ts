import type { KeyMatch } from '../../core/table/matchKeys.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import type { VisibleColumn, VisibleTable } from '../../core/table/visibleTable.ts';
import { readAll } from '../duckdb/engine.ts';
import { createTailTable, quoteName } from '../duckdb/relation.ts';
import { queryTable } from './openRelation.ts';
import type { TableStorage } from './tableStorage.ts';

/** How many rows with the same key are named. */
const mostNamed = 5;

let tables = 0;

/**
 * The rows that have the given values in some columns, by position in `keys`; positions without a row are left out. Only these
 * columns are read, and of files only the groups of rows whose values can be among the given ones.
 */
export async function findRowsByKey(
  storage: TableStorage,
  visible: VisibleTable,
  columns: VisibleColumn[],
  keys: string[][],
): Promise<Map<number, KeyMatch>> {
  tables += 1;
  const asked = quoteName(`svc_keys_${tables}`);
  const create = createTailTable(`svc_keys_${tables}`, [
    { name: 'place', type: 'BIGINT' },
    ...columns.map(({ type }, i) => ({ name: `k${i}`, type })),
  ]);
  const same = columns.map(({ name }, i) => `${asked}.k${i} = stored.${quoteName(name)}`).join(' AND ');
  return queryTable(storage, { ...visible, columns }, null, async (connection, from) => {
    await connection.run(create, [JSON.stringify(keys.map((key, place) => [place, ...key]))]);
    try {
      const found = await readAll(
        connection,
        `SELECT CAST(place AS DOUBLE), CAST(count(*) AS DOUBLE), CAST(min(${rowIdColumn}, ${mostNamed}) AS VARCHAR)
         FROM ${from} AS stored JOIN ${asked} ON ${same} GROUP BY place`,
      );
      return new Map(
        found.map(([place, count, ids]) => [place as number, { count: count as number, rowIds: JSON.parse(ids as string) as number[] }]),
      );
    } finally {
      await connection.run(`DROP TABLE ${asked}`);
    }
  });
}
