import { availableParallelism } from 'node:os';
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import type { BlobStore } from '../blobs/blobStore.ts';
import { createTailTable, quoteName, type Relation } from './relation.ts';

/** The engine for the service's own reads and writes. Nobody's SQL runs here: that is what the sandbox is for. */
export interface Engine {
  use<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export async function openEngine(options: { connections: number; memoryLimitMb: number }): Promise<Engine> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(availableParallelism()),
    memory_limit: `${options.memoryLimitMb}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'true',
  });
  const free: DuckDBConnection[] = [];
  for (let i = 0; i < options.connections; i += 1) free.push(await instance.connect());
  // Files never change, so their footers need to be read only once.
  await free[0]?.run('SET GLOBAL parquet_metadata_cache = true');
  const waiting: ((connection: DuckDBConnection) => void)[] = [];
  return {
    async use(work) {
      const connection = free.pop() ?? (await new Promise<DuckDBConnection>((resolve) => waiting.push(resolve)));
      try {
        return await work(connection);
      } finally {
        const next = waiting.shift();
        if (next) next(connection);
        else free.push(connection);
      }
    },
    async close() {
      for (const connection of free) connection.closeSync();
      instance.closeSync();
    },
  };
}

let tails = 0;

/** Runs `work` with SQL that stands for the relation; its files are pinned and its tail is there for as long. */
export async function withRelation<T>(
  engine: Engine,
  blobs: BlobStore,
  relation: Relation,
  work: (connection: DuckDBConnection, from: string) => Promise<T>,
): Promise<T> {
  const opened = await blobs.open(relation.files);
  try {
    return await engine.use(async (connection) => {
      tails += 1;
      const tailName = `svc_tail_${tails}`;
      const { tail } = relation;
      if (tail) await connection.run(createTailTable(tailName, tail), [tail.json]);
      try {
        return await work(connection, `(${relation.select(opened.pathOf, tailName)})`);
      } finally {
        if (tail) await connection.run(`DROP TABLE ${quoteName(tailName)}`);
      }
    });
  } finally {
    opened.release();
  }
}

/** All rows of a small result, values as the API gives them. */
export async function readAll(connection: DuckDBConnection, sql: string, params?: DuckDBValue[]): Promise<DuckDBValue[][]> {
  const reader = await connection.runAndReadAll(sql, params);
  return reader.getRows();
}
