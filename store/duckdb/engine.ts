import { availableParallelism } from 'node:os';
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { DomainError } from '../../core/errors.ts';
import type { BlobStore } from '../blobs/blobStore.ts';
import { openRelations } from './openRelations.ts';
import type { Relation } from './relation.ts';

/** DuckDB for the service's own reads and writes. SQL of users never runs here, but in the sandbox. */
export interface Engine {
  use<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  /** The same with separate connections, for the parts of streams: long answers must not block short ones. */
  useForStream<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  /** One thread for each connection: over little data, threads that wait for each other take twice the processor time. */
  small: Pick<Engine, 'use'>;
  close(): Promise<void>;
}

/** How many parts of answers are read at a time; slow readers hold none of these connections. */
const streamConnections = 4;
/** For all connections of `small`. It is for data of which their share holds several copies. */
const smallMemoryMb = 256;
/** Data up to this size is small. */
export const smallBytes = 8 * 1024 * 1024;

export async function openEngine(options: { connections: number; memoryLimitMb: number }): Promise<Engine> {
  const instance = await openInstance(availableParallelism(), options.memoryLimitMb);
  const used = await openConnections(instance, options.connections);
  const streaming = await openConnections(instance, streamConnections);
  let small: ReturnType<typeof openSmall> | null = null;
  return {
    use: used.use,
    useForStream: streaming.use,
    small: {
      async use(work) {
        small ??= openSmall(options.connections);
        return (await small).use(work);
      },
    },
    async close() {
      used.close();
      streaming.close();
      instance.closeSync();
      (await small)?.close();
    },
  };
}

async function openSmall(connections: number) {
  const instance = await openInstance(1, smallMemoryMb);
  const { use, close } = await openConnections(instance, connections);
  return {
    use,
    close() {
      close();
      instance.closeSync();
    },
  };
}

function openInstance(threads: number, memoryLimitMb: number): Promise<DuckDBInstance> {
  return DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: `${memoryLimitMb}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'true',
    // Files are local, and the operating system keeps them in memory that it can give to others.
    enable_external_file_cache: 'false',
  });
}

async function openConnections(instance: DuckDBInstance, count: number) {
  const free: DuckDBConnection[] = [];
  for (let i = 0; i < count; i += 1) free.push(await instance.connect());
  // Files never change, so their footers can be cached.
  await free[0]?.run('SET GLOBAL parquet_metadata_cache = true');
  const waiting: ((connection: DuckDBConnection) => void)[] = [];
  return {
    async use<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
      const connection = free.pop() ?? (await new Promise<DuckDBConnection>((resolve) => waiting.push(resolve)));
      try {
        return await work(connection);
      } finally {
        const next = waiting.shift();
        if (next) next(connection);
        else free.push(connection);
      }
    },
    close() {
      for (const connection of free) connection.closeSync();
    },
  };
}

/** Turns the memory limit of DuckDB and the length limit of strings into 503; returns other errors unchanged. */
export function explainMemoryError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  if (!/^Out of Memory Error|Invalid string length|Cannot create a string longer/.test(error.message)) return error;
  return new DomainError(
    'unavailable',
    'This needs more memory than there is just now.',
    'Ask for fewer rows or columns at a time, or try again in a moment.',
    { cause: error, headers: { 'Retry-After': '2' } },
  );
}

/** Runs `work` with a FROM expression for each relation; their files and log tables exist until it ends. */
export async function withRelations<T>(
  engine: Pick<Engine, 'use'>,
  blobs: BlobStore,
  relations: Relation[],
  work: (connection: DuckDBConnection, froms: string[]) => Promise<T>,
): Promise<T> {
  return engine.use(async (connection) => {
    const { froms, release } = await openRelations(connection, blobs, relations);
    try {
      return await work(connection, froms);
    } finally {
      await release();
    }
  });
}

export async function withRelation<T>(
  engine: Pick<Engine, 'use'>,
  blobs: BlobStore,
  relation: Relation,
  work: (connection: DuckDBConnection, from: string) => Promise<T>,
): Promise<T> {
  return withRelations(engine, blobs, [relation], (connection, [from]) => work(connection, from as string));
}

/** What streams are read from, and where a Parquet file is written before it is sent. */
export interface StreamStorage {
  engine: Engine;
  blobs: BlobStore;
}

/** A relation as a FROM expression that is open on this connection until it is released. */
export async function openFrom(
  connection: DuckDBConnection,
  blobs: BlobStore,
  relation: Relation,
): Promise<{ from: string; release(): Promise<void> }> {
  const { froms, release } = await openRelations(connection, blobs, [relation]);
  return { from: froms[0] as string, release };
}

/** All rows of a small result, as values of DuckDB's API. */
export async function readAll(connection: DuckDBConnection, sql: string, params?: DuckDBValue[]): Promise<DuckDBValue[][]> {
  const reader = await connection.runAndReadAll(sql, params);
  return reader.getRows();
}
