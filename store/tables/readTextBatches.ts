import type { DuckDBConnection } from '@duckdb/node-api';
import { rowIdColumn } from '../../core/table/table.ts';
import { type ByteBatch, cutBatch, decodeBatch, encodeBatch, type TextBatch } from '../../core/table/textBatch.ts';
import { cellText } from '../duckdb/cellText.ts';
import { openFrom } from '../duckdb/engine.ts';
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

/** How long the rows are that are held as texts at a time. */
const partBytes = 2 * 1024 * 1024;

/** Gives the rows of a version to `take`, in row order, some at a time. While it takes them, the next ones are read. */
export async function eachTextBatch(
  storage: TableStorage,
  projection: Projection,
  take: (batch: TextBatch) => Promise<void>,
): Promise<void> {
  await eachBatch(storage, projection, async ({ texts }) => {
    await take(texts());
    return true;
  });
}

/** The same as bytes; only the first `limit` rows if that is given. */
export async function eachByteBatch(
  storage: TableStorage,
  projection: Projection,
  take: (batch: ByteBatch) => Promise<void>,
  limit = Number.POSITIVE_INFINITY,
): Promise<void> {
  let left = limit;
  await eachBatch(storage, projection, async ({ bytes }) => {
    const batch = cutBatch(bytes(), left);
    await take(batch);
    left -= batch.rowCount;
    return left > 0;
  });
}

/** Rows in the form that they are wanted in. Strings are made late: bytes that wait cost the garbage collector nothing. */
interface Batch {
  texts(): TextBatch;
  bytes(): ByteBatch;
}

/** Until there are no more, or `take` wants no more. */
async function eachBatch(storage: TableStorage, projection: Projection, take: (batch: Batch) => Promise<boolean>): Promise<void> {
  const readNext = isWide(projection.columns) ? readWide(storage, projection) : readNarrow(storage, projection);
  let coming = readNext();
  try {
    for (let batches = await coming; batches !== null; batches = await coming) {
      coming = readNext();
      // A failure is reported when these batches are asked for; until then it must not count as an unhandled rejection.
      coming.catch(() => null);
      for (const batch of batches) if (!(await take(batch))) return;
    }
  } finally {
    await coming.catch(() => null);
  }
}

function readNarrow(storage: TableStorage, projection: Projection): () => Promise<Batch[] | null> {
  const { columns } = projection;
  const list = columns.map(({ name, type }) => cellText(quoteName(name), type)).join(', ');
  const source = {
    ...describeRows(projection),
    spans: cutWindows(projection),
    open: async (connection: DuckDBConnection, window: { min: number; max: number }) =>
      openFrom(connection, storage.blobs, await openProjection(storage, projection, window)),
    select: (from: string) => `SELECT ${list} FROM ${from} ORDER BY ${rowIdColumn}`,
  };
  const parts = new PartOpener(source, partBytes);
  return () =>
    usePart(storage, parts, async (connection, { sql }) => {
      const reader = await ChunkReader.open(connection, () => connection.stream(sql));
      const batches: Batch[] = [];
      try {
        for (let chunk = await reader.next(); chunk !== null; chunk = await reader.next()) {
          const copied = copyTexts(chunk, columns.length);
          batches.push({ texts: () => decodeBatch(copied), bytes: () => copied });
        }
        return batches;
      } finally {
        await reader.close();
      }
    });
}

function readWide(storage: TableStorage, projection: Projection): () => Promise<Batch[] | null> {
  const nextIds = listInTurn(storage, projection);
  return async () => {
    const ids = await nextIds();
    if (ids.length === 0) return null;
    const batch = await readWideTexts(storage, projection, ids);
    return [{ texts: () => batch, bytes: () => encodeBatch(batch) }];
  };
}
