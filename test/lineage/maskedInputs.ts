import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type QueryLineage, readPlan } from '../../core/lineage/readPlan.ts';
import { scanColumn, scanTable } from '../../core/lineage/scanNames.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import { inputs } from './randomQuery.ts';

export type Cell = number | null;
/** Rows of each input, in its order. */
export type InputRows = Cell[][][];

/** An engine that plans queries over the inputs and runs them on given rows. */
export interface Engine {
  trace(sql: string, width: number): Promise<QueryLineage>;
  /** The values of each column of the result, in order. Null: the query fails on these rows, or makes too many of them or takes too long. */
  run(sql: string, rows: InputRows): Promise<string[][] | null>;
  close(): void;
}

/** Joins of joins may make more than a test can hold. */
const mostRows = 20_000;

export async function openEngine(): Promise<Engine> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '500MB' });
  const connection = await instance.connect();
  await fill(
    connection,
    inputs.map(() => []),
  );
  for (const [i, { name, columns }] of inputs.entries())
    await connection.run(
      `CREATE VIEW ${name} AS SELECT ${columns.map((column, k) => `${scanColumn(k)} AS ${column}`).join(', ')} FROM ${scanTable(i)}`,
    );
  return {
    async trace(sql, width) {
      const call = `json_serialize_plan(${quoteText(sql)}, skip_null := true, skip_empty := true, optimize := false)`;
      const text = (await connection.runAndReadAll(`SELECT CAST(${call} AS VARCHAR)`)).getRows()[0]?.[0];
      const { plans, error_message: fault } = JSON.parse(String(text)) as { plans?: unknown[]; error_message?: string };
      if (!plans) throw new Error(`${fault}: ${sql}`);
      const names = Array.from({ length: width }, (_, i) => `x${i}`);
      return readPlan(plans[0], names, inputs);
    },
    async run(sql, rows) {
      await fill(connection, rows);
      const timer = setTimeout(() => connection.interrupt(), 3_000);
      try {
        const result = await connection.streamAndReadUntil(sql, mostRows);
        if (!result.done) return null;
        const columns = result.getColumns();
        return Array.from({ length: result.columnCount }, (_, i) => (columns[i] ?? []).map(String));
      } catch {
        return null;
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function fill(connection: DuckDBConnection, rows: InputRows): Promise<void> {
  for (const [i, { columns }] of inputs.entries()) {
    await connection.run(`CREATE TABLE IF NOT EXISTS ${scanTable(i)} (${columns.map((_, k) => `${scanColumn(k)} BIGINT`).join(', ')})`);
    await connection.run(`TRUNCATE ${scanTable(i)}`);
    const values = (rows[i] ?? []).map((row) => `(${row.map((cell) => cell ?? 'NULL').join(', ')})`);
    if (values.length > 0) await connection.run(`INSERT INTO ${scanTable(i)} VALUES ${values.join(', ')}`);
  }
}

/** The same rows but for one column of one input, or with other rows of it where the column is null. */
export function mask(rows: InputRows, input: number, column: number | null, random: () => number): InputRows {
  const cell = () => (random() < 0.15 ? null : Math.floor(random() * 5));
  return rows.map((table, i) => {
    if (i !== input) return table;
    if (column !== null) {
      const isBlank = random() < 0.3;
      return table.map((row) => row.with(column, isBlank ? null : cell()));
    }
    const kept = table.filter(() => random() < 0.7);
    const width = inputs[input]?.columns.length ?? 0;
    return [...kept, ...Array.from({ length: Math.floor(random() * 3) }, () => Array.from({ length: width }, cell))];
  });
}

export const randomRows = (random: () => number): InputRows =>
  inputs.map(({ columns }) => {
    const cell = () => (random() < 0.15 ? null : Math.floor(random() * 5));
    return Array.from({ length: 3 + Math.floor(random() * 7) }, () => columns.map(cell));
  });
