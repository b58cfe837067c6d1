import { rowIdColumn } from '../../core/table/table.ts';
import type { TextBatch } from '../../core/table/textBatch.ts';
import { cellText } from '../duckdb/cellText.ts';
import { openFrom } from '../duckdb/engine.ts';
import { ChunkReader } from '../duckdb/formats/chunkReader.ts';
import { readTexts } from '../duckdb/formats/rawTexts.ts';
import { quoteName } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { openProjection } from './fetchRows.ts';
import type { Projection } from './projection.ts';
import { cutWindows, listInTurn } from './streamTable.ts';
import type { TableStorage } from './tableStorage.ts';
import { readWideTexts } from './wideRows.ts';

/** Gives the rows of a version to `take`, in row order, some at a time; the next ones are read when it is done. */
export async function eachTextBatch(
  storage: TableStorage,
  projection: Projection,
  take: (batch: TextBatch) => Promise<void>,
): Promise<void> {
  if (isWide(projection.columns)) return eachWideBatch(storage, projection, take);
  const list = projection.columns.map(({ name, type }) => cellText(quoteName(name), type)).join(', ');
  const select = (from: string) => `SELECT ${list} FROM ${from} ORDER BY ${rowIdColumn}`;
  await storage.engine.useForStream(async (connection) => {
    for (const window of cutWindows(projection)) {
      const { from, release } = await openFrom(connection, storage.blobs, await openProjection(storage, projection, window));
      try {
        const reader = await ChunkReader.open(connection, () => connection.stream(select(from)));
        try {
          for (let chunk = await reader.next(); chunk !== null; chunk = await reader.next())
            await take(readTexts(chunk, projection.columns.length));
        } finally {
          await reader.close();
        }
      } finally {
        await release();
      }
    }
  });
}

async function eachWideBatch(storage: TableStorage, projection: Projection, take: (batch: TextBatch) => Promise<void>): Promise<void> {
  const nextIds = listInTurn(storage, projection);
  for (let ids = await nextIds(); ids.length > 0; ids = await nextIds()) await take(await readWideTexts(storage, projection, ids));
}
