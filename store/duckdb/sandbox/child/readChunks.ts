import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';

/**
 * A scan that finds little gives many small chunks, and to wait for each in turn would cost more than the scan. A chunk takes
 * its memory by the column, however few rows it has: of wide ones, fewer are asked for.
 */
const most = { chunks: 8, columns: 2_000 };

/**
 * The chunks of a streaming result, some of them asked for in advance. They come in order because the process has one
 * thread for such work (isolation.ts gives it no more; with more, chunks would overtake each other). `stop` is called when the reader leaves early, and must make what is under way end.
 */
export async function* readChunks(result: DuckDBResult, stop: () => void): AsyncGenerator<DuckDBDataChunk> {
  const ahead = Math.max(1, Math.min(most.chunks, Math.floor(most.columns / result.columnCount)));
  const asked: Promise<DuckDBDataChunk | null>[] = [];
  const ask = () => {
    const chunk = result.fetchChunk();
    // Whoever comes to it sees the error; the others must not end the process.
    chunk.catch(() => {});
    asked.push(chunk);
  };
  for (let i = 0; i < ahead; i += 1) ask();
  let finished = false;
  try {
    for (let chunk = await asked.shift(); chunk && chunk.rowCount > 0; chunk = await asked.shift()) {
      ask();
      yield chunk;
    }
    finished = true;
  } finally {
    if (!finished) stop();
    await Promise.allSettled(asked);
  }
}
