import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { DomainError } from '../../core/errors.ts';
import type { BlobStore } from '../blobs/blobStore.ts';
import { copyAsParquet, streamWritten } from './formats/parquetCopy.ts';
import { type DataFormat, type OpenedSelect, startRows } from './formats/streamRows.ts';
import { openRelations } from './openRelations.ts';
import type { Relation } from './relation.ts';

/** DuckDB for the service's own reads and writes. SQL of users never runs here, but in the sandbox. */
export interface Engine {
  use<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  /** The same with separate connections, for streams: slow clients must not block others. */
  useForStream<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** How many streams may be open at a time; each holds a few chunks in memory. */
const streamConnections = 16;

export async function openEngine(options: { connections: number; memoryLimitMb: number }): Promise<Engine> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(availableParallelism()),
    memory_limit: `${options.memoryLimitMb}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'true',
  });
  const used = await openConnections(instance, options.connections);
  const streaming = await openConnections(instance, streamConnections);
  // Files never change, so their footers can be cached.
  await used.use((connection) => connection.run('SET GLOBAL parquet_metadata_cache = true'));
  return {
    use: used.use,
    useForStream: streaming.use,
    async close() {
      used.close();
      streaming.close();
      instance.closeSync();
    },
  };
}

async function openConnections(instance: DuckDBInstance, count: number) {
  const free: DuckDBConnection[] = [];
  for (let i = 0; i < count; i += 1) free.push(await instance.connect());
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
  engine: Engine,
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
  engine: Engine,
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

/** The rows of a SELECT over a relation as a stream. Connection, files and log table are released when it closes. */
export function streamRelation(
  storage: StreamStorage,
  relation: Relation,
  format: DataFormat,
  select: (from: string) => string,
): Promise<Readable> {
  return streamSelect(storage, format, (connection) => openSelect(connection, storage.blobs, relation, select));
}

/** A SELECT over a relation that is open on this connection until it is released. */
export async function openSelect(
  connection: DuckDBConnection,
  blobs: BlobStore,
  relation: Relation,
  select: (from: string) => string,
): Promise<OpenedSelect> {
  const { froms, release } = await openRelations(connection, blobs, [relation]);
  return { sql: select(froms[0] as string), release };
}

/** The rows of a SELECT over one file as a stream. The file is released when it closes. */
export function streamFile(
  storage: StreamStorage,
  format: DataFormat,
  open: () => Promise<{ path: string; release(): void | Promise<void> }>,
  select: (path: string) => string,
): Promise<Readable> {
  return streamSelect(storage, format, async () => {
    const { path, release } = await open();
    return { sql: select(path), release: async () => release() };
  });
}

async function streamSelect(
  { engine, blobs }: StreamStorage,
  format: DataFormat,
  open: (connection: DuckDBConnection) => Promise<OpenedSelect>,
): Promise<Readable> {
  if (format === 'parquet') {
    return streamWritten(blobs, (path) => engine.useForStream((connection) => writeParquet(connection, () => open(connection), path)));
  }
  return holdForStream(engine, async (connection) => {
    const { sql, release } = await open(connection);
    try {
      return { body: (await startRows(connection, sql, undefined, format)).body, release };
    } catch (error) {
      await release();
      throw error;
    }
  });
}

export async function writeParquet(connection: DuckDBConnection, open: () => Promise<OpenedSelect>, path: string): Promise<void> {
  const { sql, release } = await open();
  try {
    await copyAsParquet(connection, sql, path);
  } finally {
    await release();
  }
}

/** Rejects if the query cannot start; holds the connection until the stream closes. */
export function holdForStream(
  engine: Engine,
  start: (connection: DuckDBConnection) => Promise<{ body: Readable; release(): Promise<void> }>,
): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const use = engine.useForStream(async (connection) => {
      const { body, release } = await start(connection);
      const closed = new Promise((done) => body.once('close', done));
      resolve(body);
      await closed;
      await release();
    });
    use.catch(reject);
  });
}

/** All rows of a small result, as values of DuckDB's API. */
export async function readAll(connection: DuckDBConnection, sql: string, params?: DuckDBValue[]): Promise<DuckDBValue[][]> {
  const reader = await connection.runAndReadAll(sql, params);
  return reader.getRows();
}
