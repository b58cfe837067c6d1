import type { DuckDBConnection } from '@duckdb/node-api';
import { rowIdColumn } from '../../core/table/table.ts';
import { type ByteBatch, cutBatch, encodeBatch } from '../../core/table/textBatch.ts';
import { cellText } from '../duckdb/cellText.ts';
import { openFrom } from '../duckdb/engine.ts';
import { BatchFile } from '../duckdb/formats/batchFile.ts';
import { ChunkReader } from '../duckdb/formats/chunkReader.ts';
import { copyTexts } from '../duckdb/formats/rawTexts.ts';
import { PartOpener } from '../duckdb/formats/rowParts.ts';
import { usePart } from '../duckdb/formats/streamParts.ts';
import { quoteName } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { openProjection } from './fetchRows.ts';
import type { Projection } from './projection.ts';
import { describeRows } from './rowSources.ts';
import { cutWindows, listInTurn } from './streamTable.ts';
import type { TableStorage } from './tableStorage.ts';
import { readWideTexts } from './wideRows.ts';

/** How long the rows are that are held at a time. */
const partBytes = 2 * 1024 * 1024;

/**
 * Gives the rows of a version to `take`, in row order, some at a time; only the first `limit` rows if that is given. While it
 * takes them, the next ones are read.
 */
export async function eachByteBatch(
  storage: TableStorage,
  projection: Projection,
  take: (batch: ByteBatch) => Promise<void>,
  limit = Number.POSITIVE_INFINITY,
): Promise<void> {
  const readNext = isWide(projection.columns) ? readWide(storage, projection) : readNarrow(storage, projection);
  let left = limit;
  let coming = readNext();
  try {
    for (let batches = await coming; batches !== null; batches = await coming) {
      coming = readNext();
      // A failure is reported when these batches are asked for; until then it must not count as an unhandled rejection.
      coming.catch(() => null);
      for (const each of batches) {
        const batch = cutBatch(each, left);
        await take(batch);
        left -= batch.rowCount;
        if (left <= 0) return;
      }
    }
  } finally {
    await coming.catch(() => null);
  }
}

/** How much is in a file of `eachBatchFile`. */
const fileBytes = 2 * 1024 * 1024;

/** The same in local files that are removed when they were taken. While one is taken, the next one is written. */
export async function eachBatchFile(storage: TableStorage, projection: Projection, take: (path: string) => Promise<void>): Promise<void> {
  let file: BatchFile | null = null;
  let taking: Promise<void> = Promise.resolve();
  const handOver = async (full: BatchFile) => {
    await full.finish();
    await taking;
    file = null;
    taking = take(full.path).finally(() => full.remove());
    // A failure is thrown where it is awaited; until then it must not count as an unhandled rejection.
    taking.catch(() => {});
  };
  try {
    await eachByteBatch(storage, projection, async (batch) => {
      file ??= await BatchFile.create(await storage.blobs.draft(), projection.columns.length);
      await file.write(batch);
      if (file.bytes > fileBytes) await handOver(file);
    });
    if (file) await handOver(file);
    await taking;
  } finally {
    await taking.catch(() => {});
    await (file as BatchFile | null)?.remove();
  }
}

function readNarrow(storage: TableStorage, projection: Projection): () => Promise<ByteBatch[] | null> {
  const { columns } = projection;
  const list = columns.map(({ name, type }) => cellText(quoteName(name), type)).join(', ');
  const source = {
    ...describeRows(projection),
    spans: cutWindows(projection),
    open: async (connection: DuckDBConnection, window: { min: number; max: number }) =>
      openFrom(connection, storage.blobs, await openProjection(storage, projection, window)),
    // Sorted first, because texts are longer than what they are made from.
    select: (from: string) => `SELECT ${list} FROM (SELECT * FROM ${from} ORDER BY ${rowIdColumn})`,
  };
  const parts = new PartOpener(source, partBytes);
  return () =>
    usePart(storage, parts, async (connection, { sql }) => {
      const reader = new ChunkReader(connection, await connection.stream(sql));
      const batches: ByteBatch[] = [];
      try {
        for (let chunk = await reader.next(); chunk !== null; chunk = await reader.next()) batches.push(copyTexts(chunk, columns.length));
        return batches;
      } finally {
        await reader.close();
      }
    });
}

function readWide(storage: TableStorage, projection: Projection): () => Promise<ByteBatch[] | null> {
  const nextIds = listInTurn(storage, projection);
  return async () => {
    const ids = await nextIds();
    if (ids.length === 0) return null;
    return [encodeBatch(await readWideTexts(storage, projection, ids))];
  };
}
