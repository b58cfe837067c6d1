import type { DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';

/**
 * How many chunks are requested in advance at most: a scan that finds little gives many small chunks, and waiting for each would
 * take longer than the scan. Memory of a chunk depends on its columns, so fewer are requested for wide results. Most results are
 * one chunk, so the first requests are few.
 */
const most = { chunks: 8, columns: 2_000 };

/**
 * The chunks of a streaming result, some requested in advance. They arrive in order only because isolation.ts gives the process
 * one thread for them. `stop` is called when the reader leaves early, and must end pending requests.
 */
export async function* readChunks(result: DuckDBResult, stop: () => void): AsyncGenerator<DuckDBDataChunk> {
  const mostAhead = Math.max(1, Math.min(most.chunks, Math.floor(most.columns / result.columnCount)));
  let ahead = 1;
  const asked: Promise<DuckDBDataChunk | null>[] = [];
  const ask = () => {
    const chunk = result.fetchChunk();
    // The reader sees the first error; others must not count as unhandled rejections.
    chunk.catch(() => {});
    asked.push(chunk);
  };
  let finished = false;
  try {
    ask();
    for (let chunk = await asked.shift(); chunk && chunk.rowCount > 0; chunk = await asked.shift()) {
      ahead = Math.min(2 * ahead, mostAhead);
      while (asked.length < ahead) ask();
      yield chunk;
    }
    finished = true;
  } finally {
    if (!finished) stop();
    await Promise.allSettled(asked);
  }
}
