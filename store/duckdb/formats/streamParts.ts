import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BlobStore } from '../../blobs/blobStore.ts';
import { limitConcurrency } from '../../blobs/limitConcurrency.ts';
import { quoteText } from '../relation.ts';
import { ChunkReader } from './chunkReader.ts';
import { copyAsParquet, streamWritten } from './parquetCopy.ts';
import { PartOpener, type RowPart, type RowSource } from './rowParts.ts';
import type { RowWriter } from './rowWriter.ts';
import { type DataFormat, makeWriter, selectWritten } from './streamRows.ts';

interface PartStorage {
  engine: { useForStream<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> };
  blobs: BlobStore;
}

/** What is made at a time: less where a reader who does not read holds it, more where it is all taken at once. */
const partBytes = { slow: 512 * 1024, quick: 2 * 1024 * 1024 };
const pieceBytes = 64 * 1024;

/** A part of one very long row is made alone: the engine needs several times its length. */
export const heavyBytes = 8 * 1024 * 1024;
const aloneIfHeavy = limitConcurrency(1);
const makePart = <T>({ bytes }: RowPart, make: () => Promise<T>) => (bytes > heavyBytes ? aloneIfHeavy(make) : make());

/** So are the parts of files with heavy groups. They wait here, before they hold a connection. */
const aloneFromGroups = limitConcurrency(1);

/**
 * The rows of a source as a stream. A part is read when the reader has taken the one before, and a connection is held only while
 * it is read. Rejects if the first part cannot be read.
 */
export async function streamParts<Span>(
  storage: PartStorage,
  source: RowSource<Span>,
  format: DataFormat,
  pace: keyof typeof partBytes,
): Promise<Readable> {
  const close = async () => source.close?.();
  try {
    if (format === 'parquet') return await streamWritten(storage.blobs, (path) => writeParquetParts(storage, source, path)).finally(close);
    const parts = new PartOpener(source, partBytes[pace]);
    const writer = makeWriter(format, source.columns);
    const readNext = () => usePart(storage, parts, (connection, part) => readPart(connection, part, source, writer));
    const head = writer.begin();
    const first = await readNext();
    const stream = Readable.from(writePieces(head, first, readNext, writer), { objectMode: false });
    return stream.once('close', close);
  } catch (error) {
    await close();
    throw error;
  }
}

export async function usePart<Span, T>(
  { engine }: PartStorage,
  parts: PartOpener<Span>,
  make: (connection: DuckDBConnection, part: RowPart) => Promise<T>,
): Promise<T | null> {
  const use = () =>
    engine.useForStream(async (connection) => {
      const part = await parts.next(connection);
      if (part === null) return null;
      try {
        return await makePart(part, () => make(connection, part));
      } finally {
        await part.release();
      }
    });
  return parts.hasHeavyGroups ? aloneFromGroups(use) : use();
}

async function readPart<Span>(
  connection: DuckDBConnection,
  { sql }: RowPart,
  { columns }: RowSource<Span>,
  writer: RowWriter,
): Promise<Buffer> {
  const reader = new ChunkReader(connection, await connection.stream(selectWritten(sql, columns, writer)));
  const pieces: Buffer[] = [];
  try {
    for await (const chunk of reader) pieces.push(writer.write(chunk));
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  } finally {
    await reader.close();
  }
}

async function* writePieces(
  head: Buffer,
  first: Buffer | null,
  readNext: () => Promise<Buffer | null>,
  writer: RowWriter,
): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let part = first; part !== null; part = await readNext())
    for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes);
  const tail = writer.end();
  if (tail.length > 0) yield tail;
}

/** Parts are larger here: nobody waits for them one by one. */
const parquetPartBytes = 8 * 1024 * 1024;

/** A file for each part, then one of all, which keeps the order without sorting everything. */
async function writeParquetParts<Span>(storage: PartStorage, source: RowSource<Span>, path: string): Promise<void> {
  const parts = new PartOpener(source, parquetPartBytes);
  const files: string[] = [];
  let longest = 0;
  try {
    for (let more = true; more; ) {
      const file = await storage.blobs.draft();
      const written = await usePart(storage, parts, async (connection, part) => {
        files.push(file);
        const rowBytes = part.bytes / Math.max(1, part.rows);
        longest = Math.max(longest, rowBytes);
        await copyAsParquet(connection, part.sql, file, rowBytes);
        return true;
      });
      more = written !== null;
    }
    if (files.length === 1) await rename(files[0] as string, path);
    else {
      const from = `read_parquet([${files.map(quoteText).join(', ')}])`;
      await storage.engine.useForStream((connection) =>
        aloneIfHeavy(() => copyAsParquet(connection, `SELECT * FROM ${from}`, path, longest)),
      );
    }
  } finally {
    for (const file of files) await rm(file, { force: true });
  }
}
