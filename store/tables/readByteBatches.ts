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

/** Writes the rows of a version to a local file. */
export async function writeBatchFile(storage: TableStorage, projection: Projection, path: string): Promise<void> {
  const file = await BatchFile.create(path, projection.columns.length);
  try {
    await eachByteBatch(storage, projection, (batch) => file.write(batch));
    await file.finish();
  } finally {
    await file.close();
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
      const reader = await ChunkReader.open(connection, () => connection.stream(sql));
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
