import { DuckDBInstance } from '@duckdb/node-api';
import { rowIdColumn } from '../core/table/table.ts';
import { seeEverything } from '../core/table/visibleTable.ts';
import { createTailTable, openFiles } from '../store/duckdb/relation.ts';
import { openRelation } from '../store/tables/openRelation.ts';
import { compareInTurn, report } from './measure.ts';
import { get, post, type TableRig } from './tableRig.ts';

const rounds = 25;

/** A bare DuckDB over the same files and deltas, with the deltas loaded in advance. */
async function openBare(tables: TableRig, name: string, threads: number) {
  const relation = await openRelation(tables.services, seeEverything(await tables.open(name)));
  const instance = await DuckDBInstance.create(':memory:', { threads: String(threads) });
  const connection = await instance.connect();
  const opened = await openFiles(tables.services.blobs, [relation]);
  if (relation.tail) await connection.run(createTailTable('tail', relation.tail.columns), [relation.tail.json]);
  await connection.run(`CREATE TEMP VIEW ${name} AS ${relation.select(opened.pathOf, 'tail')}`);
  return {
    connection,
    close() {
      opened.release();
      connection.closeSync();
      instance.closeSync();
    },
  };
}

export async function benchPages(tables: TableRig, names: { large: string; small: string }): Promise<void> {
  for (const [name, rows] of [
    [names.large, 1_000_000],
    [names.small, 10_000],
  ] as const) {
    const bare = await openBare(tables, name, 2);
    try {
      const cursorAt = new Map<number, string>();
      const start = (round: number) => 1 + ((round * 37_987) % (rows - 200));
      for (let round = 0; round <= rounds; round += 1) {
        const page = JSON.parse(await get(tables.rig, `${tables.base}/tables/${name}/rows?limit=1&offset=${start(round) - 1}`));
        cursorAt.set(round, (page as { next_cursor: string }).next_cursor);
      }
      const ms = await compareInTurn(
        {
          engine: (round) =>
            bare.connection.runAndReadAll(`SELECT * FROM ${name} WHERE ${rowIdColumn} > ${start(round)} ORDER BY ${rowIdColumn} LIMIT 100`),
          page: (round) =>
            get(tables.rig, `${tables.base}/tables/${name}/rows?limit=100&cursor=${encodeURIComponent(cursorAt.get(round) ?? '')}`),
        },
        rounds,
      );
      const ratio = ms.page / ms.engine;
      console.log(`  a page of 100 of ${rows} rows: ${ms.page.toFixed(1)} ms, the engine's own ${ms.engine.toFixed(1)} ms`);
      report(`a page of ${rows} rows by cursor, over the engine's own time`, `${ratio.toFixed(2)}×`, 'at most 3×', ratio <= 3);
    } finally {
      bare.close();
    }
  }
}

export async function benchQueries(tables: TableRig, name: string): Promise<void> {
  const bare = await openBare(tables, name, 1);
  const queries = {
    'SELECT 1': 'SELECT 1 AS x',
    'a point': `SELECT * FROM ${name} WHERE c1 = 3500000`,
    'a filter': `SELECT c1, c3 FROM ${name} WHERE c8 = 7 AND c10 > 500000 LIMIT 1000`,
    'a group': `SELECT c7, count(*) AS n, sum(c3) AS s FROM ${name} GROUP BY c7 ORDER BY c7`,
  };
  try {
    for (const [what, sql] of Object.entries(queries)) {
      const ms = await compareInTurn(
        {
          bare: () => bare.connection.runAndReadAll(sql),
          query: () => post(tables.rig, `${tables.base}/query`, { sql }),
        },
        rounds,
      );
      console.log(`  ${what}: ${ms.query.toFixed(1)} ms, bare DuckDB ${ms.bare.toFixed(1)} ms`);
      report(`${what}: overhead over bare DuckDB`, `${(ms.query - ms.bare).toFixed(1)} ms`, 'at most 40 ms', ms.query - ms.bare <= 40);
    }
  } finally {
    bare.close();
  }
}
